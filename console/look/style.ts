/** The console's only style sheet: the tokens of the sandbox's pages, in light and dark, narrow, wide and printed. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --ground: #f4f5f7; --card: #fff; --line: #c9ced6; --edge: #6b7480; --strong: #0b5394; --quiet: #4d5660; --bad: #a3120a; --good: #0a6640; --warn: #7a4d00; --soft: #eef2f7; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eceff3; --ground: #14171b; --card: #1f242a; --line: #3a424c; --edge: #97a1ad; --strong: #8cc4ff; --quiet: #b4bdc8; --bad: #ff9c94; --good: #7fdcae; --warn: #f0c36a; --soft: #262d35; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.45 system-ui, sans-serif; }
a { color: var(--strong); }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; padding: 0.5rem; background: var(--card); z-index: 3; }
.top form { margin: 0; }
.top { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; padding: 0.5rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
.top strong { color: var(--strong); }
.top search { flex: 1 1 14rem; min-width: 0; max-width: 40rem; }
.top form.search { display: flex; gap: 0.5rem; }
.top form.search input { flex: 1 1 0; width: 0; min-width: 0; }
.world { padding: 0.125rem 0.5rem; border: 1px solid var(--edge); border-radius: 1rem; font-size: 0.875rem; }
.who { margin-left: auto; display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: center; font-size: 0.9375rem; }
.who form.plain { display: flex; }
.frame { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 1rem; max-width: 90rem; margin: 0 auto; padding: 1rem; }
nav.sections ul { margin: 0; padding: 0; list-style: none; }
nav.sections a { display: block; padding: 0.375rem 0.75rem; line-height: 1.3; border-radius: 0.5rem; text-decoration: none; color: inherit; }
nav.sections a[aria-current] { background: var(--card); color: var(--strong); font-weight: 600; }
main { min-width: 0; overflow-wrap: anywhere; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.2; }
h2 { margin: 0 0 0.5rem; font-size: 1.125rem; }
h3 { margin: 0.75rem 0 0.25rem; font-size: 1rem; }
p { margin: 0.5rem 0; }
main.alone { max-width: 36rem; margin: 2rem auto; }
.card > :last-child, figure.card > details:last-child { margin-bottom: 0; }
.card { margin: 0 0 1rem; padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.75rem; }
.cards { display: grid; align-items: start; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1rem; margin-bottom: 1rem; }
.cards > .card { margin: 0; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.25rem; }
th, td { padding: 0.375rem 1rem 0.375rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:hover { background: var(--soft); }
/* A table scrolls rather than cut its words, numbers and dates in two. */
.scroll { overflow-wrap: normal; }
.scroll td, .scroll tbody th { min-width: 6.25rem; max-width: 22rem; overflow-wrap: break-word; }
.scroll .number { min-width: 0; }
.scroll .id, .utc { white-space: nowrap; }
.scroll td:first-child { min-width: 8.5rem; }
.zone { color: var(--quiet); }
thead th { border-top: 0; font-size: 0.875rem; color: var(--quiet); white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
.id { font-family: ui-monospace, monospace; font-size: 0.875rem; }
.quiet { color: var(--quiet); font-size: 0.9375rem; }
.status { display: inline-block; padding: 0 0.5rem; font-weight: 600; border: 1px solid var(--edge); border-radius: 1rem; font-size: 0.875rem; white-space: nowrap; }
.status.good { color: var(--good); border-color: var(--good); }
.status.bad { color: var(--bad); border-color: var(--bad); }
.status.warn { color: var(--warn); border-color: var(--warn); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: 0.25rem 1rem; margin: 0.5rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; }
form.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: end; margin-bottom: 0.75rem; }
form.plain { display: inline; }
label { display: block; font-weight: 600; font-size: 0.9375rem; }
label span { display: block; }
label.choice, label input, label select, label textarea { font-weight: 400; }
label .quiet { font-weight: 400; }
form.filters label { display: flex; flex-direction: column; min-width: 11rem; }
form.filters input, form.filters select { width: 100%; }
form.filters > a { padding: 0.5rem 0; }
input, select, textarea { padding: 0.4375rem 0.5rem; min-height: 2.5rem; max-width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 0.375rem; }
textarea { width: 100%; }
input[type=checkbox], input[type=radio] { min-height: 0; }
input.wide { width: 100%; }
button, a.button { display: inline-block; min-height: 2.5rem; padding: 0.4375rem 0.875rem; font: inherit; font-weight: 600; line-height: 1.45; text-decoration: none; border: 1px solid var(--strong); border-radius: 0.375rem; color: var(--strong); background: var(--card); cursor: pointer; }
button.main { background: var(--strong); color: var(--card); }
button.danger { background: var(--bad); border-color: var(--bad); color: var(--card); }
a.button.danger { border-color: var(--bad); color: var(--bad); }
button.small { min-height: 2rem; padding: 0.125rem 0.625rem; font-size: 0.875rem; }
button.link { min-height: 0; padding: 0; border: 0; background: none; text-decoration: underline; font-weight: 400; }
ul.off { margin: 0.5rem 0 0; padding: 0; list-style: none; color: var(--quiet); font-size: 0.9375rem; }
ul.off li { padding: 0.125rem 0; }
ul.off strong { font-weight: 600; }
ul.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0.5rem 0; padding: 0; list-style: none; }
ul.plain { margin: 0; padding: 0; list-style: none; }
ul.plain li { padding: 0.375rem 0; border-top: 1px solid var(--line); }
.notice { padding: 0.75rem 1rem; margin: 0 0 1rem; border: 2px solid var(--good); border-radius: 0.5rem; background: var(--card); }
.notice.unknown { border-color: var(--warn); }
.notice.problem { border-color: var(--bad); }
.alarm { border-left: 0.375rem solid var(--bad); }
.calm { border-left: 0.375rem solid var(--good); }
.pager:empty { display: none; }
.pager { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin-top: 0.75rem; }
.live { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0.25rem 0.5rem; align-items: center; margin: 0 0 0.5rem; font-size: 0.875rem; color: var(--quiet); }
.live[hidden] { display: none; }
@media (min-width: 48rem) { h1 + .live, .quiet + .live { margin-top: -2.75rem; min-height: 2rem; } }
figure.card { max-width: 44rem; }
.plain + form { margin-top: 0.75rem; }
.stale { outline: 2px dashed var(--bad); outline-offset: 0.25rem; }
ol.timeline { margin: 0; padding: 0; list-style: none; border-left: 2px solid var(--line); }
ol.timeline > li { position: relative; padding: 0.25rem 0 0.5rem 1rem; }
ol.timeline > li::before { content: ''; position: absolute; left: -0.4375rem; top: 0.625rem; width: 0.75rem; height: 0.75rem; border-radius: 50%; background: var(--strong); }
ol.timeline > li.waits::before { background: var(--card); border: 2px solid var(--warn); }
ol.steps { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.5rem; margin: 0.5rem 0; padding: 0; list-style: none; }
ol.steps li { padding: 0.375rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--soft); }
ol.steps li[aria-current] { border: 2px solid var(--strong); background: var(--card); }
ol.steps li[aria-current] > strong { color: var(--strong); }
ol.steps li.ahead { color: var(--quiet); border-style: dashed; background: none; }
svg { max-width: 100%; height: auto; }
svg .axis { stroke: var(--edge); stroke-width: 1; }
svg .first { stroke: var(--strong); fill: none; stroke-width: 2; }
svg .second { stroke: var(--quiet); fill: none; stroke-width: 2; stroke-dasharray: 4 3; }
svg .bar { fill: var(--strong); }
svg .bar2 { fill: var(--quiet); }
svg text { fill: var(--quiet); font-size: 14px; }
details > summary { cursor: pointer; padding: 0.25rem 0; }
pre { overflow-x: auto; padding: 0.5rem; background: var(--soft); border-radius: 0.375rem; font-size: 0.875rem; white-space: pre-wrap; }
@media (max-width: 48rem) {
  .frame { grid-template-columns: minmax(0, 1fr); padding: 0.75rem; }
  .top { padding: 0.5rem 0.75rem; }
  .top search { flex-basis: 100%; }
  nav.sections { min-width: 0; overflow-x: auto; }
  nav.sections ul { display: flex; gap: 0.25rem; }
  nav.sections a { padding: 0.375rem 0.5rem; white-space: nowrap; }
  form.filters label, form.filters input, form.filters select { width: 100%; }
  dl { grid-template-columns: minmax(0, 1fr); }
  dt { margin-top: 0.375rem; }
  .who { margin-left: 0; }
}
@media print {
  .top form, nav.sections, form, ul.actions, ul.off, .pager, .live { display: none; }
  .frame { display: block; }
  .card { border-color: #000; break-inside: avoid; }
}
`;
