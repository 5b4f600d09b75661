//! Colours of pictures, for light and for dark backgrounds.
//!
//! Kinds differ in words too, never in colour alone.

/// The style sheet of pictures. Several on one page can share one.
pub fn svg_style() -> &'static str {
    ".tpk{--bg:#fff;--box:#fff;--ink:#1f2328;--soft:#59636e;--line:#818b98;--frame:#f6f8fa;--edge:#d1d9e0;\
--workspace:#59636e;--module:#8250df;--rail:#bf3989;--view:#0969da;--table:#1a7f37;--automation:#bc4c00;\
--outside:#0f766e;--bad:#d1242f;font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"Liberation Sans\",sans-serif}\n\
@media (prefers-color-scheme:dark){.tpk{--bg:#0d1117;--box:#161b22;--ink:#e6edf3;--soft:#9aa4af;--line:#7d8590;--frame:#11161d;--edge:#30363d;\
--workspace:#9aa4af;--module:#a371f7;--rail:#f778ba;--view:#58a6ff;--table:#3fb950;--automation:#f0883e;\
--outside:#39c5bb;--bad:#f85149}}\n\
.tpk .bg{fill:var(--bg)}\n\
.tpk text{fill:var(--ink);font-size:12.5px}\n\
.tpk .head{font-size:17px;font-weight:600}\n\
.tpk .soft,.tpk .key{fill:var(--soft);font-size:11px}\n\
.tpk .frame{fill:var(--frame);stroke:var(--edge)}\n\
.tpk .title{font-size:13px;font-weight:600}\n\
.tpk .box{fill:var(--box);stroke:var(--c);stroke-opacity:.55}\n\
.tpk .bar{fill:var(--c)}\n\
.tpk .label{font-weight:600}\n\
.tpk .node:hover .box{stroke-opacity:1;stroke-width:2}\n\
.tpk .workspace,.tpk .planStep,.tpk .end{--c:var(--workspace)}\n\
.tpk .module{--c:var(--module)}.tpk .rail{--c:var(--rail)}.tpk .view{--c:var(--view)}\n\
.tpk .table{--c:var(--table)}.tpk .automation,.tpk .trigger{--c:var(--automation)}\n\
.tpk .step{--c:var(--view)}.tpk .fork{--c:var(--module)}\n\
.tpk .dependency{--c:var(--outside)}.tpk .missing{--c:var(--bad)}\n\
.tpk .dependency .box,.tpk .missing .box{stroke-dasharray:5 3;stroke-opacity:1}\n\
.tpk .missing text{fill:var(--bad)}\n\
.tpk .edge{fill:none;stroke:var(--line);stroke-width:1.3}\n\
.tpk .links{stroke:var(--table);stroke-width:2}\n\
.tpk .shows,.tpk .holds{stroke-dasharray:2 3}\n\
.tpk .declares{stroke-opacity:.45;stroke-width:1}\n\
.tpk .late{stroke:var(--bad)}\n\
.tpk .edges g:hover .edge{stroke:var(--view);stroke-opacity:1;stroke-width:2.5}\n\
.tpk .by{fill:var(--soft);font-size:10.5px;stroke:var(--bg);stroke-width:4px;stroke-linejoin:round;paint-order:stroke}\n\
.tpk .framed .by{stroke:var(--frame)}\n\
.tpk .tip{fill:var(--line)}.tpk .tip-links{fill:var(--table)}.tpk .tip-late{fill:var(--bad)}\n\
@media print{.tpk{--bg:#fff;--box:#fff;--ink:#000;--soft:#444;--line:#666;--frame:#fff;--edge:#999}}\n"
}
