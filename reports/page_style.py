"""The style sheet of the HTML report: system fonts, light and dark, nothing from outside."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --shade: #f4f6f8; --link: #0550ae;
  --good: #116329; --bad: #a40e26; --unsure: #7a4d00; --mark: #cf222e;
  --task0: #8cb4e8; --task1: #f0b27a; --task2: #8fd19e; --task3: #d7a6e8;
  --task4: #f2a1a1; --task5: #7fd1d1; --task6: #e0d070; --task7: #b8b8e8; --notask: #c5ccd3; --on-task: #16191d; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #0f1317; --ink: #e6eaee; --soft: #9aa5b1; --line: #39434d; --shade: #181e24; --link: #79b8ff;
  --good: #5fd17f; --bad: #ff8a8a; --unsure: #e8b45a; --mark: #ff6b6b; --notask: #8b96a1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
  h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p, ul { margin: .4rem 0; } code, pre, .digest { font-family: ui-monospace, monospace; font-size: .875rem;
  overflow-wrap: anywhere; }
pre { background: var(--shade); border: 1px solid var(--line); border-radius: 4px; padding: .6rem .8rem;
  white-space: pre-wrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--soft);
  padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
thead th { border-bottom: 2px solid var(--line); white-space: nowrap; } th[scope=row] { font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.verdict { font-weight: 700; white-space: nowrap; } .good { color: var(--good); } .bad { color: var(--bad); }
  .unsure { color: var(--unsure); }
.caveats { border-left: 4px solid var(--unsure); background: var(--shade); padding: .6rem 1rem; }
  .caveats ul { padding-left: 1.1rem; }
tr.violating { background: var(--shade); } tr.violating th::before { content: "\\2715  "; color: var(--mark); }
svg.timeline text { font: 11px ui-monospace, monospace; fill: var(--ink); }
  svg.timeline text.seq { fill: var(--soft); text-anchor: middle; }
svg .lane { fill: var(--shade); } svg .tick { stroke: var(--line); }
  svg .call rect, svg .point circle { stroke: var(--ink); stroke-width: .75; }
svg .call text { fill: var(--on-task); } svg .unfinished rect { stroke-dasharray: 4 3; }
svg .violating line { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 2 3; }
  svg .violating path { stroke: var(--mark); stroke-width: 3; fill: none; }
svg .task0 { fill: var(--task0); } svg .task1 { fill: var(--task1); } svg .task2 { fill: var(--task2); }
  svg .task3 { fill: var(--task3); }
svg .task4 { fill: var(--task4); } svg .task5 { fill: var(--task5); } svg .task6 { fill: var(--task6); }
  svg .task7 { fill: var(--task7); }
svg .notask { fill: var(--notask); }
@media print { body { max-width: none; } details { display: block; } .scroll { overflow: visible; } }
"""
