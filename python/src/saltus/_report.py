"""One HTML page of a result: how its instances ended, pictures, instances worth a look, provenance."""

from __future__ import annotations

import base64
import html
import io
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ._dataset import STATUSES
from ._errors import SpecError
from ._plot import FEW, Plot
from ._rows import INPUTS, OUTCOMES, Rows
from ._style import pyplot, wide

#: Instances that a table lists, and outcomes that have pictures.
LISTED, SHOWN = 10, 3
#: Beyond this many instances rows are not read for pictures: the page shows the statistics of the run.
MOST = 5_000_000

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0 auto; max-width: 66rem; padding: 1rem; color: #1a1a1a; background: #fff; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }}
h1 {{ font-size: 1.5rem; margin: 0 0 .2rem; }} h2 {{ font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #ccc; }}
p {{ margin: .4rem 0; }} .about {{ color: #444; }}
.counts {{ display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }}
.counts li {{ border: 1px solid #ccc; border-radius: .4rem; padding: .3rem .8rem; }} .counts b {{ display: block; font-size: 1.3rem; }}
.counts .bad {{ border-color: #a33c00; color: #a33c00; }}
.pictures {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.2rem; align-items: start; }}
figure {{ margin: 0; }} img {{ display: block; width: 100%; max-width: 36rem; height: auto; }}
table {{ border-collapse: collapse; width: 100%; font-size: .9rem; }}
th, td {{ text-align: left; vertical-align: top; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid #e3e3e3; }}
td.n, th.n {{ text-align: right; white-space: nowrap; overflow-wrap: normal; }} th {{ overflow-wrap: normal; }}
.scroll {{ overflow-x: auto; }} dt {{ color: #555; font-size: .9rem; }} dd {{ margin: 0 0 .5rem; }}
pre {{ white-space: pre-wrap; background: #f5f5f5; padding: .7rem; font-size: .85rem; margin: .5rem 0; }}
summary {{ cursor: pointer; padding: .3rem 0; }} code {{ font-size: .9em; }}
td:first-child {{ white-space: nowrap; }}
@media (max-width: 40rem) {{ table.tall tr {{ display: block; padding: .4rem 0; border-bottom: 1px solid #ccc; }}
  table.tall td {{ display: inline-block; border: 0; padding: .05rem .9rem .05rem 0; text-align: left; white-space: normal;
    overflow-wrap: anywhere; }}
  table.tall td:first-child {{ display: block; }} table.tall td:empty, table.tall tr:first-child {{ display: none; }}
  table.tall td:not(:first-child)::before {{ content: attr(data-of) " "; color: #555; }} }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


class Picture(NamedTuple):
    """A picture, and its description for readers who do not see it."""

    about: str
    draw: Callable[[], Any]


def page(ds: xr.Dataset, file: str) -> str:
    """The whole page, with its pictures in it."""
    attributes = ds.attrs
    parts = [f"<h1>{_text(attributes.get('title') or attributes['model'])}</h1>",
             f"<p class=about>{_text(Path(file).name)}: model {_text(attributes['model'])}, {_text(attributes.get('state', ''))}, made "
             f"{_text(attributes.get('created', ''))} in {float(attributes.get('wall_time_s', float('nan'))):.4g} s</p>",
             _counts(ds), _remarks(ds), _section("Pictures", _pictures(ds)), _section("Outcomes", _statistics(ds)),
             _section("How instances ended", _statuses(ds)), _section("Instances that failed", _failed(ds, file)),
             _section("Slowest instances", _slowest(ds, file)),
             _section("Inputs", _inputs(ds)), _section("How it was made", _provenance(ds))]
    return _PAGE.format(title=_text(f"{attributes.get('title', '')}: {Path(file).name}"), body="\n".join(one for one in parts if one))


# ---- HTML

def _text(value: Any) -> str:
    return html.escape(str(value))


def _section(heading: str, body: str) -> str:
    return f"<h2>{heading}</h2>\n{body}" if body else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[int] = ()) -> str:
    """A table of texts; on a narrow screen each row becomes a block, with the heads before its cells."""
    cells = "".join(f"<th{' class=n' if k in numbers else ''}>{_text(one)}</th>" for k, one in enumerate(head))
    body = "".join("<tr>" + "".join(f"<td{' class=n' if k in numbers else ''} data-of=\"{_text(head[k])}\">{one}</td>"
                                    for k, one in enumerate(row)) + "</tr>\n" for row in rows)
    return f"<div class=scroll><table class=tall>\n<tr>{cells}</tr>\n{body}</table></div>"


def _unit(of: xr.DataArray | xr.Variable) -> str:
    return _text(of.attrs.get("units", "")) if of.attrs.get("units") != "1" else ""


def _number(value: Any) -> str:
    return f"{float(value):.6g}"


# ---- parts of the page

def _counts(ds: xr.Dataset) -> str:
    counts = {what: int(ds.attrs.get(f"count_{what}", 0)) for what in ("ok", "rescued", "failed", "not_finished")}
    said = {"ok": "ended well", "rescued": "rescued", "failed": "failed", "not_finished": "not finished"}
    shown = [f"<li><b>{sum(counts.values()):,}</b> instances</li>"]
    shown += [f"<li{' class=bad' if what in ('failed', 'not_finished') else ''}><b>{n:,}</b> {said[what]}</li>"
              for what, n in counts.items() if n or what == "ok"]
    return f"<ul class=counts>{''.join(shown)}</ul>"


def _remarks(ds: xr.Dataset) -> str:
    return f"<p>{_text(ds.attrs['remarks'])}</p>" if ds.attrs.get("remarks") else ""


def _pictures(ds: xr.Dataset) -> str:
    drawn = []
    with wide(4.6):
        for picture in choice(ds):
            try:
                axes = picture.draw()
            except SpecError:  # the file has too little for it
                continue
            figure = axes.figure if hasattr(axes, "figure") else axes[0].figure
            stored = io.BytesIO()
            figure.savefig(stored, format="png", dpi=170)
            pyplot().close(figure)
            image = base64.b64encode(stored.getvalue()).decode()
            drawn.append(f'<figure><img alt="{_text(picture.about)}" src="data:image/png;base64,{image}"></figure>')
    return f"<div class=pictures>\n{chr(10).join(drawn)}\n</div>" if drawn else ""


def choice(ds: xr.Dataset) -> list[Picture]:
    """The pictures that fit what a result has."""
    plot, chosen = Plot(ds), []
    if "sensitivity_first_order" in ds.variables:
        chosen.append(Picture("Sobol' indices of the first outcomes for each input", plot.sobol))
    if "sensitivity_mu_star" in ds.variables:
        chosen.append(Picture("Mean size and deviation of the effects of each input, by Morris", plot.morris))
    counted = [str(name)[len("histogram_"):] for name in ds.variables if str(name).startswith("histogram_")]
    if "status" not in ds:
        return chosen + [Picture(f"Histogram of {name}", _bound(plot.histogram, name)) for name in counted]
    if ds["status"].size > MOST:
        return chosen
    rows = Rows(ds)
    sampled = [str(name) for name, v in ds.variables.items() if v.attrs.get("role") == "sample"][:4]
    if sampled:
        names = ", ".join(sampled)
        chosen.append(Picture(f"{names} over time of up to {FEW} instances, with events marked", _bound(plot.trajectories, sampled)))
        if rows.count > FEW:
            chosen.append(Picture(f"Median and 5..95 % of all instances of {names} over time", _bound(plot.bands, sampled)))
    if 0 < ds.sizes.get("event", 0) <= MOST:
        chosen.append(Picture(f"{ds.sizes['event']} events by time, instance and guard", plot.raster))
    for name in outcomes(rows):
        over = rows.varied()
        about = f"{name} over {' and '.join(over) if len(over) <= 2 else 'the inputs'}"
        chosen.append(Picture(about, _bound(plot.outcome, name)))
        if rows.count > 20:
            chosen.append(Picture(f"Histogram of {name}", _bound(plot.histogram, name)))
    return chosen


def _bound(draw: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: draw(*arguments)


def outcomes(rows: Rows) -> list[str]:
    """Some outcomes that differ between instances: reductions, final values, the number of events."""
    named = [name for name in rows.named(*OUTCOMES[:2]) if name != "t_final"] + ["events", "t_final"]
    varying = []
    for name in named:
        values = rows.values(name)[rows.ok].astype(float)
        values = values[np.isfinite(values)]
        if len(values) and np.ptp(values) > 0:
            varying.append(name)
    return varying[:SHOWN]


def _statistics(ds: xr.Dataset) -> str:
    """Statistics of the run, which cover all instances; without them, statistics of the rows."""
    prefix = "statistics_"
    table = []
    for name in (str(one) for one in ds.variables):
        if name.startswith(prefix) and name != f"{prefix}rejected":
            count, mean, deviation, least, most = ds[name].values[:5]
            table.append((name[len(prefix):], _unit(ds[name]), count, mean, deviation, least, most))
    if not table and "status" in ds and ds["status"].size <= MOST:
        rows = Rows(ds)
        for name in [*rows.named(*OUTCOMES[:2]), "steps", "rhs_evaluations", "events"]:
            values = rows.values(name)[rows.ok].astype(float)
            values = values[np.isfinite(values)]
            if len(values):
                deviation = values.std(ddof=1) if len(values) > 1 else float("nan")
                table.append((name, _unit(ds[name]), len(values), values.mean(), deviation, values.min(), values.max()))
    return _table(["outcome", "unit", "instances", "mean", "deviation", "least", "greatest"],
                  ([f"<b>{_text(name)}</b>", unit, f"{int(count):,}", *(map(_number, rest))] for name, unit, count, *rest in table),
                  numbers=range(2, 7)) if table else ""


def _statuses(ds: xr.Dataset) -> str:
    rows = [(f"<b>{_text(name)}</b>", f"{int(ds.attrs[f'count_{name}']):,}", _text(why), _text(remedy) if counts_as != "ok" else "")
            for _, name, why, remedy, counts_as in STATUSES.values() if ds.attrs.get(f"count_{name}")]
    return _table(["status", "instances", "the instance", "what to do"], rows, numbers=[1])


def _failed(ds: xr.Dataset, file: str) -> str:
    """The first failed instances of each status."""
    if not _has_rows(ds) or not ds.attrs.get("count_failed"):
        return ""
    rows = Rows(ds)
    status = rows.values("status")
    failed = [number for number, row in STATUSES.items() if row[4] == "failed"]
    first = np.concatenate([np.flatnonzero(status == number)[:LISTED] for number in failed])
    t_final = rows.values("t_final")
    table = [[f"<b>{rows.numbers[k]}</b>", _text(STATUSES[int(status[k])][1]), _number(t_final[k]), *_again(rows, k)] for k in first]
    return _opening(file, f"The first {LISTED} of each status") + _table(["instance", "status", "ended at", "inputs", "again"], table, [2])


def _slowest(ds: xr.Dataset, file: str) -> str:
    if not _has_rows(ds) or ds["status"].size < 2:
        return ""
    rows = Rows(ds)
    counters = [rows.values(name) for name in ("rhs_evaluations", "steps", "events")]
    most = np.argsort(-counters[0], kind="stable")[:LISTED]
    table = [[f"<b>{rows.numbers[k]}</b>", *(f"{int(counter[k]):,}" for counter in counters), *_again(rows, k)] for k in most]
    return (_opening(file, f"By evaluations of the right-hand side, of which there are {counters[0].mean():,.0f} on average")
            + _table(["instance", "evaluations", "steps", "events", "inputs", "again"], table, numbers=range(1, 4)))


def _has_rows(ds: xr.Dataset) -> bool:
    return "status" in ds and ds["status"].size <= MOST


def _opening(file: str, said: str) -> str:
    """The text above a table of instances: how to look at one, and how to run it again."""
    return (f"<p>{said}. To look at one: <code>saltus show {_text(shlex.quote(file))} --instance I</code>. To make it again in Python, "
            f"with the same bits: <code>import saltus, xarray; ds = xarray.open_dataset({_text(repr(file))})</code>, then what "
            "stands under <i>again</i>.</p>")


def _again(rows: Rows, k: int) -> tuple[str, str]:
    """The varied inputs of an instance, and the line that runs it again."""
    inputs = ", ".join(f"{_text(name)} {_number(rows.values(name)[k])}" for name in rows.varied()[:4])
    return inputs, f"<code>ds.saltus.rerun({rows.numbers[k]})</code>"


def _inputs(ds: xr.Dataset) -> str:
    rows = []
    for role in INPUTS:
        for name, v in ds.variables.items():
            if v.attrs.get("role") == role:
                values = np.asarray(v.values, dtype=float)
                said = _number(values) if values.size == 1 else f"{_number(values.min())} .. {_number(values.max())}"
                rows.append((f"<b>{_text(name)}</b>", said, _unit(v), _text(v.attrs.get("long_name", ""))))
    return _table(["input", "value", "unit", ""], rows)


def _provenance(ds: xr.Dataset) -> str:
    keys = ("history", "method", "seed", "saltus_version", "compiler", "device", "model_file", "model_source", "model_hash", "module_hash")
    shown = "".join(f"<dt>{key}</dt><dd>{_text(ds.attrs[key])}</dd>" for key in keys if key in ds.attrs)
    opened = f"<h3>Spec</h3><pre>{_text(ds.attrs['spec'].strip())}</pre>" if ds.attrs.get("spec") else ""
    texts = (("settings", "All settings"), ("model_text", "The model"), ("sources", "Hashes of all sources"))
    folded = "".join(f"<details><summary>{heading}</summary><pre>{_text(ds.attrs[key].strip())}</pre></details>"
                     for key, heading in texts if ds.attrs.get(key))
    return f"<dl>{shown}</dl>{opened}{folded}"
