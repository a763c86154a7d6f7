"""The frame of a page: its style, and the script that draws figures in the colours of the reader's theme."""

STYLE = """
:root {
  color-scheme: light dark;
  --text: #1c1c1c; --quiet: #626262; --line: #dcdcdc; --page: #ffffff; --link: #22609c;
}
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --quiet: #a2a2a2; --line: #3a3a3a; --page: #161616; --link: #84b6e8; }
}
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif;
}
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; font-weight: 600; margin: 0 0 1rem; }
h2 {
  font-size: 1.15rem; font-weight: 600;
  margin: 2.75rem 0 .5rem; padding-top: .9rem; border-top: 1px solid var(--line);
}
p { margin: .6rem 0; max-width: 46rem; }
section p, #absent li { color: var(--quiet); }
b { color: var(--text); font-weight: 600; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
nav ol { margin: 1rem 0 0; padding-left: 1.3rem; columns: 2; column-gap: 2rem; }
.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .28rem 1rem .28rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; color: var(--quiet); }
.number { text-align: right; }
@media (max-width: 40rem) { nav ol { columns: 1; } main { padding: 1.5rem .9rem 3rem; } }
"""

SCRIPT = """
const figures = JSON.parse(document.getElementById("figures").textContent);
const config = {displaylogo: false, responsive: true, modeBarButtons: [["toImage", "resetScale2d"]]};
function themed(layout) {
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const line = colour("--line");
  const axes = {color: colour("--quiet"), gridcolor: line, linecolor: line, zerolinecolor: line};
  return {
    margin: {l: 60, r: 20, t: 36, b: 48}, ...layout,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: {family: "system-ui, Segoe UI, Helvetica, Arial, sans-serif", size: 12, color: colour("--text")},
    legend: {orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom", traceorder: "normal"},
    hoverlabel: {bgcolor: colour("--page"), bordercolor: line, font: {color: colour("--text")}, namelength: -1},
    modebar: {bgcolor: "rgba(0,0,0,0)", color: line, activecolor: colour("--quiet")},
    xaxis: {...layout.xaxis, ...axes}, yaxis: {...layout.yaxis, ...axes},
  };
}
function draw() {
  figures.forEach((figure, number) =>
    Plotly.react(document.getElementById("figure" + number), figure.data, themed(figure.layout), config));
}
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
"""
