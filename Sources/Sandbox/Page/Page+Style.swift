// SPDX-License-Identifier: Apache-2.0

extension Page {
    /// The page's style: light or dark as the system is, from one column to as many as fit.
    static let style = #"""

        :root {
          color-scheme: light dark;
          --ground: #eef1f6; --ground-far: #dfe5ef; --ink: #131722; --faint: #5d6679; --line: #cfd6e2; --panel: #ffffffd9;
          --screen: #fff; --bubble: #e9e9ee; --bubble-ink: #16181d; --accent: #0a66e8; --accent-soft: #0a66e81f;
          --good: #14833b; --bad: #c62a2f; --frame: #1b1d22; --frame-edge: #4a4e58; --chrome: #f6f6f9;
          font: 15px/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #10131a; --ground-far: #0a0c11; --ink: #eceff6; --faint: #97a1b5; --line: #2a3040; --panel: #151924e0;
            --screen: #0b0c0f; --bubble: #26282e; --bubble-ink: #f2f3f6; --accent: #6aa8ff; --accent-soft: #6aa8ff2b;
            --good: #4cc472; --bad: #ff7b7f; --frame: #2a2d34; --frame-edge: #5d626e; --chrome: #15171c;
          }
        }
        * { box-sizing: border-box; margin: 0; }
        [hidden] { display: none !important; }
        html { background: linear-gradient(var(--ground), var(--ground-far)) fixed; color: var(--ink); min-height: 100%; }
        button { font: inherit; color: inherit; cursor: pointer; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

        .bar {
          position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 12px 22px; flex-wrap: wrap;
          padding: 12px clamp(14px, 3vw, 36px); background: var(--panel); backdrop-filter: blur(14px);
          border-bottom: 1px solid var(--line);
        }
        .brand { display: flex; align-items: center; gap: 10px; font-size: 16px; font-weight: 650; white-space: nowrap; }
        .brand svg { width: 30px; height: 30px; fill: var(--accent); }
        .brand path { fill: #fff; }
        .brand em { font-style: normal; font-weight: 450; color: var(--faint); }
        .counters { display: flex; gap: 20px; margin-inline-end: auto; }
        .counters div { display: flex; align-items: baseline; gap: 5px; }
        .counters dd { font-weight: 650; font-variant-numeric: tabular-nums; }
        .counters dt { order: 1; color: var(--faint); font-size: 13px; }
        #filter {
          font: inherit; color: inherit; flex: 1 1 120px; max-width: 200px; min-width: 0; padding: 6px 12px; border-radius: 9px;
          border: 1px solid var(--line); background: var(--screen);
        }
        #filter::placeholder { color: var(--faint); }
        .plain {
          padding: 6px 13px; border-radius: 9px; border: 1px solid var(--line); background: var(--screen);
        }
        .plain:hover { border-color: var(--accent); }
        .live { display: inline-flex; align-items: center; gap: 7px; font-size: 13px; color: var(--faint); }
        .live::before { content: ""; width: 9px; height: 9px; border-radius: 50%; background: var(--faint); }
        .live[data-state=live]::before { background: var(--good); box-shadow: 0 0 0 3px color-mix(in srgb, var(--good) 25%, transparent); }
        .live[data-state=lost]::before { background: var(--bad); }

        .wall {
          display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 286px), 1fr)); justify-items: center;
          gap: 34px 26px; max-width: 1900px; margin: 0 auto; padding: 32px clamp(14px, 3vw, 36px) 12px;
        }
        .note { text-align: center; padding: 0 16px 40px; color: var(--faint); }
        .note:not([hidden]) { padding-top: 28px; }
        .phone { width: 100%; max-width: 316px; }
        .screen {
          position: relative; display: flex; flex-direction: column; height: 556px; overflow: hidden;
          border-radius: 46px; border: 9px solid var(--frame); background: var(--screen);
          box-shadow: 0 0 0 1.5px var(--frame-edge), 0 22px 42px -20px #0a122a80;
        }
        .phone.fresh .screen { animation: ring 1.6s ease-out; }
        @keyframes ring { 15% { box-shadow: 0 0 0 1.5px var(--frame-edge), 0 0 0 8px var(--accent-soft), 0 0 46px -4px var(--accent); } }
        .status {
          display: grid; grid-template-columns: 1fr auto 1fr; align-items: center; padding: 9px 20px 4px;
          background: var(--chrome); font-size: 13px; font-weight: 650;
        }
        .island { width: 78px; height: 22px; border-radius: 11px; background: #000; }
        .icons { width: 62px; height: 14px; justify-self: end; fill: currentColor; }
        .icons .shell { fill: none; stroke: currentColor; opacity: .45; }
        .contact {
          display: flex; flex-direction: column; align-items: center; gap: 3px; padding: 4px 16px 8px;
          background: var(--chrome); border-bottom: 1px solid var(--line); font-size: 12.5px;
        }
        .avatar {
          display: grid; place-items: center; width: 40px; height: 40px; border-radius: 50%; color: #fff; font-size: 18px;
          font-weight: 600; background: linear-gradient(hsl(var(--hue, 215) 45% 58%), hsl(var(--hue, 215) 50% 42%));
        }
        .sender { max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .thread {
          flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; scrollbar-width: thin;
          display: flex; flex-direction: column; gap: 10px; padding: 14px 12px; list-style: none;
        }
        .thread > :first-child { margin-top: auto; }
        .thread:focus-visible { outline-offset: -3px; }
        .message { max-width: 88%; align-self: flex-start; }
        .message.fresh { animation: arrive .32s cubic-bezier(.2, 1.3, .4, 1); transform-origin: 0 100%; }
        @keyframes arrive { from { opacity: 0; transform: translateY(14px) scale(.92); } }
        .bubble {
          width: fit-content; padding: 8px 13px; border-radius: 18px 18px 18px 5px; background: var(--bubble);
          color: var(--bubble-ink); white-space: pre-wrap; overflow-wrap: anywhere;
        }
        .bubble .code, .latest {
          padding: 0 5px; border: 0; border-radius: 6px; background: var(--accent-soft); color: var(--accent);
          font-weight: 700; font-variant-numeric: tabular-nums; letter-spacing: .04em; unicode-bidi: isolate; direction: ltr;
          white-space: nowrap; cursor: pointer;
        }
        .bubble .code:hover, .latest:hover { background: var(--accent); color: var(--screen); }
        .bubble .bound {
          display: block; margin-top: 6px; direction: ltr; font: 12px/1.4 ui-monospace, "Noto Sans Mono", monospace; color: var(--faint);
        }
        .meta { display: flex; flex-wrap: wrap; gap: 0 7px; padding: 3px 5px 0; font-size: 11px; color: var(--faint); }
        .tick { white-space: nowrap; }
        .tick[data-status=delivered] { color: var(--accent); }
        .tick[data-status=undelivered] { color: var(--bad); font-weight: 600; }
        .autofill {
          display: flex; justify-content: center; align-items: center; gap: 9px; padding: 8px 12px 6px;
          background: var(--chrome); border-top: 1px solid var(--line); font-size: 12.5px; color: var(--faint);
        }
        .latest { padding: 2px 12px; font-size: 16px; }
        .home { padding: 6px 0 8px; background: var(--chrome); }
        .home::before { content: ""; display: block; width: 112px; height: 4px; margin: auto; border-radius: 2px; background: var(--ink); opacity: .75; }
        .caption { display: flex; justify-content: center; gap: 9px; padding-top: 13px; font-size: 14.5px; font-weight: 600; }
        .number { font-variant-numeric: tabular-nums; }
        .count { color: var(--faint); font-weight: 450; }

        .empty {
          display: grid; grid-template-columns: auto minmax(0, 560px); gap: 30px 56px; justify-content: center; align-items: center;
          padding: clamp(24px, 8vh, 90px) clamp(16px, 4vw, 40px);
        }
        .empty h2 { font-size: 25px; letter-spacing: -.01em; margin-bottom: 8px; }
        .empty p { color: var(--faint); margin: 14px 0 6px; }
        .empty p code { color: var(--ink); }
        code { font: 13px/1.6 ui-monospace, "Noto Sans Mono", monospace; }
        pre {
          display: flex; gap: 12px; align-items: flex-start; justify-content: space-between; padding: 11px 14px; border-radius: 11px;
          border: 1px solid var(--line); background: var(--screen);
        }
        pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
        pre .plain { padding: 3px 10px; font-size: 13px; }
        .ghost {
          width: 200px; height: 380px; padding: 92px 18px 0; border-radius: 38px; border: 8px solid var(--frame); background: var(--screen);
          box-shadow: 0 0 0 1.5px var(--frame-edge), 0 22px 42px -20px #0a122a80;
        }
        .ghost i {
          display: block; height: 34px; margin-bottom: 12px; border-radius: 15px 15px 15px 5px; background: var(--bubble);
          animation: wait 2.4s ease-in-out infinite;
        }
        .ghost i:nth-child(2) { width: 62%; animation-delay: .3s; }
        .ghost i:nth-child(3) { width: 82%; animation-delay: .6s; }
        @keyframes wait { 50% { opacity: .35; } }
        .toast {
          position: fixed; left: 50%; bottom: 26px; translate: -50% 80px; padding: 9px 18px; border-radius: 12px;
          background: var(--ink); color: var(--ground); font-weight: 550; transition: translate .22s; z-index: 3;
        }
        .toast.shown { translate: -50% 0; }

        @media (min-width: 641px) and (max-width: 1240px) { .counters div:last-child { display: none; } }
        @media (min-width: 641px) and (max-width: 1080px) { .counters > * { display: none; } }
        @media (max-width: 640px) {
          .bar { gap: 10px 12px; padding-block: 10px; }
          .counters { order: 2; width: 100%; margin: 0; justify-content: space-between; gap: 8px; }
          .counters div { flex-direction: column; align-items: center; gap: 0; }
          .counters dt { font-size: 11.5px; }
          #filter { order: 3; flex-basis: 100%; max-width: none; padding: 8px 12px; font-size: 16px; }
          .live { margin-inline-start: auto; min-width: 0; }
          .wall { padding-top: 22px; gap: 28px; }
          .phone { max-width: 400px; }
          .screen { height: min(540px, 74vh); }
          .empty { grid-template-columns: minmax(0, 1fr); justify-items: center; }
          .ghost { display: none; }
        }
        @media (prefers-reduced-motion: reduce) { *, ::before { animation: none !important; transition: none !important; } }

        """#
}
