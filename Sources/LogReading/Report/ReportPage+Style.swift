// SPDX-License-Identifier: Apache-2.0

extension ReportPage {
    /// The page's style: light or dark as the system is, two charts beside each other where there is room.
    ///
    /// The colours are told apart by people who see few of them (after Okabe and Ito), and no table needs them.
    static let style = """

        :root {
          color-scheme: light dark;
          --ground: #f4f6fa; --panel: #fff; --ink: #141821; --faint: #596275; --line: #dbe0ea; --doubt: #8a4b00; --doubt-ground: #fff3dc;
          --sent: #0072b2; --delivered: #009e73; --suppressed: #8b93a3; --rejected: #d98200; --late: #a8762a;
          --undelivered: #c45c9a; --failed: #c8321f; --unknown: #6a3fb5; --expired: #b4bac6;
          font: 15px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #0f1218; --panel: #171b23; --ink: #e9edf5; --faint: #98a2b6; --line: #2b3240; --doubt: #ffcf85; --doubt-ground: #33270f;
            --sent: #56b4e9; --delivered: #2fc795; --suppressed: #7d8799; --rejected: #f0a93a; --late: #c99a52;
            --undelivered: #e08fbe; --failed: #ff6f5b; --unknown: #b392f0; --expired: #565f70;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--ink); }
        header, main, footer { max-width: 1240px; margin: 0 auto; padding: 0 clamp(12px, 3vw, 32px); }
        header { padding-top: 28px; }
        h1 { font-size: 24px; margin: 0; } h1 em { font-style: normal; font-weight: 400; color: var(--faint); }
        h2 { font-size: 18px; margin: 0; }
        p { margin: 6px 0; overflow-wrap: anywhere; } .note, footer { color: var(--faint); font-size: 14px; }
        footer { padding-block: 8px 40px; }
        .doubt { background: var(--doubt-ground); color: var(--doubt); border-radius: 8px; padding: 8px 12px; }
        .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 8px; margin: 16px 0; }
        .facts div { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 8px 12px; }
        .facts dt { color: var(--faint); font-size: 13px; } .facts dd { margin: 0; font-size: 19px; font-weight: 600; } .facts small { white-space: nowrap; }
        section { background: var(--panel); border: 1px solid var(--line); border-radius: 14px; margin: 16px 0; padding: 16px clamp(12px, 2vw, 22px); }
        .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: 10px 28px; }
        .chart { margin: 14px 0 0; min-width: 0; }
        figcaption { font-weight: 600; } small { font-weight: 400; color: var(--faint); font-size: 13px; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 4px 0; padding: 0; font-size: 13px; }
        .legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 5px; background: currentColor; }
        .plot { position: relative; height: 190px; margin: 12px 4px 26px 46px; }
        .plot svg { width: 100%; height: 100%; display: block; overflow: visible; }
        .y span { position: absolute; right: calc(100% + 6px); transform: translateY(50%); font-size: 12px; color: var(--faint); white-space: nowrap; }
        .x span { position: absolute; top: calc(100% + 4px); transform: translateX(-50%); font-size: 12px; color: var(--faint); white-space: nowrap; }
        .grid { fill: none; stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
        .line { fill: none; stroke: currentColor; stroke-width: 1.8; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
        .area { fill: currentColor; }
        .hints { fill: transparent; } .hints rect:hover { fill: var(--ink); fill-opacity: 0.1; }
        .bars { list-style: none; margin: 10px 0; padding: 0; display: grid; gap: 6px; }
        .bars li { display: grid; grid-template-columns: minmax(60px, 20%) 1fr 64px; gap: 10px; align-items: center; }
        .bars span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right; font-size: 14px; }
        .bars b { font-weight: 500; font-size: 13px; font-variant-numeric: tabular-nums; }
        .bar { display: flex; height: 18px; border-radius: 4px; overflow: hidden; min-width: 2px; } .bar i { background: currentColor; min-width: 1px; }
        .lane { display: grid; grid-template-columns: 110px 1fr; gap: 10px; align-items: center; margin: 6px 0; }
        .lane span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 14px; }
        .lane svg { width: 100%; height: 20px; background: var(--ground); border-radius: 4px; } .lane rect { fill: var(--failed); fill-opacity: 0.55; }
        .under-lanes { position: relative; height: 22px; margin-left: 120px; } .under-lanes span { top: 0; }
        details { margin: 2px 0; } summary { cursor: pointer; color: var(--faint); font-size: 13px; }
        .scroll { overflow: auto; max-height: 420px; margin: 8px 0; } :focus-visible { outline: 2px solid var(--sent); outline-offset: 2px; }
        table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; min-width: 100%; }
        caption { text-align: left; color: var(--faint); padding-bottom: 4px; }
        th, td { text-align: right; padding: 4px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
        th:first-child { text-align: left; padding-left: 0; } thead th { color: var(--faint); font-weight: 500; } tbody th { font-weight: 500; }
        .c-sent { color: var(--sent); } .c-delivered { color: var(--delivered); } .c-suppressed { color: var(--suppressed); }
        .c-rejected { color: var(--rejected); } .c-late { color: var(--late); } .c-undelivered { color: var(--undelivered); }
        .c-failed { color: var(--failed); } .c-unknown { color: var(--unknown); } .c-expired { color: var(--expired); }
        .c-0 { color: var(--sent); } .c-1 { color: var(--delivered); } .c-2 { color: var(--late); } .c-3 { color: var(--undelivered); }
        .c-4 { color: var(--suppressed); }
        @media (max-width: 560px) {
          .bars li { grid-template-columns: 1fr 56px; row-gap: 0; } .bars span { grid-column: 1 / -1; text-align: left; }
          .lane { grid-template-columns: 70px 1fr; } .under-lanes { margin-left: 80px; }
        }
        @media print { body { background: #fff; } section { break-inside: avoid; } }

        """
}
