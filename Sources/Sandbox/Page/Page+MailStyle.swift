// SPDX-License-Identifier: Apache-2.0

extension Page {
    /// The style of the tabs, the mailbox and the list of pushes.
    static let mailStyle = #"""

        .tabs, .parts { display: inline-flex; padding: 3px; gap: 2px; border-radius: 11px; background: color-mix(in srgb, var(--line) 55%, transparent); }
        .tabs button, .parts button { padding: 4px 13px; border: 0; border-radius: 8px; background: none; color: var(--faint); font-weight: 550; }
        .tabs button:hover, .parts button:hover { color: var(--ink); }
        .tabs [aria-selected=true], .parts [aria-selected=true] { background: var(--screen); color: var(--ink); box-shadow: 0 1px 3px #0a122a30; }
        .tabs b {
          margin-inline-start: 7px; padding: 1px 7px; border-radius: 9px; background: var(--accent-soft); color: var(--accent);
          font-size: 12px; font-variant-numeric: tabular-nums;
        }
        body:not([data-view=phones]) .counters > * { display: none; }

        .mail.full {
          display: grid; grid-template-columns: minmax(280px, 380px) minmax(0, 1fr); gap: 20px; max-width: 1500px; margin: 0 auto;
          padding: 24px clamp(14px, 3vw, 36px); height: calc(100vh - 64px); min-height: 420px;
        }
        .mail:not(.full) .list { display: none; }
        .mail .list, .opened, .card { border: 1px solid var(--line); border-radius: 16px; background: var(--screen); }
        .mail .list { overflow-y: auto; scrollbar-width: thin; }
        .mail ol, .push ol { list-style: none; padding: 0; }
        .letter {
          display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 1px 12px; width: 100%; padding: 12px 16px; text-align: start;
          border: 0; border-bottom: 1px solid var(--line); background: none;
        }
        .letter > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .letter:hover { background: var(--chrome); }
        .letter:focus-visible { outline-offset: -3px; }
        .letter[aria-current] { background: var(--accent-soft); }
        .letter .who { font-weight: 650; }
        .letter time, .letter .to, .route { color: var(--faint); font-size: 13px; }
        .letter .what, .letter .to { grid-column: 1 / -1; }
        .fresh > .letter, .card.fresh { animation: glow 1.6s ease-out; }
        @keyframes glow { 15% { background: var(--accent-soft); } }
        .opened { display: flex; flex-direction: column; min-width: 0; overflow: hidden; }
        .opened.none { align-items: center; justify-content: center; color: var(--faint); }
        .opened header { padding: 18px 22px 14px; border-bottom: 1px solid var(--line); }
        .opened h2 { font-size: 20px; line-height: 1.3; letter-spacing: -.01em; margin-bottom: 6px; overflow-wrap: anywhere; }
        .route { overflow-wrap: anywhere; }
        .actions { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-top: 13px; }
        .actions .parts { margin-inline-start: auto; }
        .strong { border-color: transparent; background: var(--accent-soft); color: var(--accent); font-weight: 600; }
        .strong b { font-variant-numeric: tabular-nums; letter-spacing: .04em; }
        .back { display: none; margin-bottom: 12px; }
        .part { flex: 1; min-height: 0; overflow: auto; }
        iframe.part { width: 100%; border: 0; background: #fff; color-scheme: light; }
        pre.part {
          display: block; border: 0; border-radius: 0; padding: 20px 22px; white-space: pre-wrap; overflow-wrap: anywhere;
          font: 14px/1.6 ui-monospace, "Noto Sans Mono", monospace;
        }
        pre.part:focus-visible { outline-offset: -3px; }
        ol.part { padding: 8px 22px; }
        ol.part li, .card dd { display: flex; gap: 12px; align-items: center; }
        ol.part li { justify-content: space-between; padding: 10px 0; border-bottom: 1px solid var(--line); }
        ol.part code, .card code { overflow-wrap: anywhere; min-width: 0; }
        ol.part .plain, .card .plain { padding: 2px 10px; font-size: 13px; }

        .push { max-width: 920px; margin: 0 auto; padding: 24px clamp(14px, 3vw, 36px); }
        .card { padding: 16px 20px; margin-bottom: 16px; }
        .card header { display: flex; justify-content: space-between; gap: 14px; align-items: baseline; }
        .card h2 { font-size: 16px; overflow-wrap: anywhere; }
        .card time { color: var(--faint); font-size: 13px; }
        .card dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 6px 16px; align-items: center; margin: 10px 0; }
        .card dt { color: var(--faint); font-size: 13px; }
        .card .token { font: 13px/1.6 ui-monospace, "Noto Sans Mono", monospace; overflow-wrap: anywhere; }
        .card summary { color: var(--faint); font-size: 13px; cursor: pointer; }
        .card pre { display: block; margin-top: 8px; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.6 ui-monospace, "Noto Sans Mono", monospace; }
        .hint { max-width: 560px; margin: 0 auto; padding: clamp(40px, 14vh, 130px) 24px; text-align: center; }
        .hint h2 { font-size: 25px; letter-spacing: -.01em; margin-bottom: 8px; }
        .hint p { color: var(--faint); }
        .hint code { color: var(--ink); white-space: nowrap; }

        @media (max-width: 860px) {
          .mail.full { grid-template-columns: minmax(0, 1fr); height: auto; min-height: 0; }
          .mail:not([data-reading=true]) .opened, .mail[data-reading=true] .list { display: none; }
          .mail .opened { min-height: 76vh; }
          .mail .none { display: none; }
          .back { display: inline-block; }
        }
        @media (max-width: 640px) {
          .tabs { order: 1; width: 100%; }
          .tabs button { flex: 1; padding: 7px 4px; }
          .actions .parts { margin-inline-start: 0; }
          .opened header { padding: 14px 16px; }
          pre.part, ol.part { padding-inline: 16px; }
          .card dl { grid-template-columns: minmax(0, 1fr); gap: 2px; }
          .card dd { margin-bottom: 8px; justify-content: space-between; }
        }

        """#
}
