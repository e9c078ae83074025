"""Pictures and pages from the command line."""

import html.parser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import saltus

pytest.importorskip("matplotlib").use("Agg")
pytest.importorskip("netCDF4")
from saltus import _commands, _plot  # noqa: E402

pytestmark = pytest.mark.long  # matplotlib takes most of the time

PROGRAM = Path(saltus._core.__file__).parents[2] / "saltus"


@pytest.fixture(scope="module")
def files(ball, tmp_path_factory):
    """Results of several kinds, by name; some instances of `rows` fail."""
    folder = tmp_path_factory.mktemp("results")
    inputs = {"restitution": {"uniform": [0.5, 0.9]}, "height": {"uniform": [1, 2]}}
    ball.run(t=(0, 3.0), count=40, seed=3, max_events=9, samples=20, events=True, file=folder / "rows.nc", **inputs)
    ball.run(t=(0, 1.0), count=16, design="saltelli", rows=False, histogram={"final_height": {"from": 0, "to": 2, "bins": 9}},
             file=folder / "indices.nc", **inputs)
    ball.run(t=(0, 1.0), count=4, design="morris", file=folder / "morris.nc", **inputs)
    ball.run(t=(0, 1.0), file=folder / "one.nc")
    ball.run(t=(0, 1.0), restitution=[-1.0, np.nextafter(-1, 0)], max_steps=1, file=folder / "failed.nc")
    return folder


class Reader(html.parser.HTMLParser):
    """Elements of a page; checks that every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.addresses, self.text = [], [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.addresses += [attrs[key] for key in ("src", "href", "action") if key in attrs]
        if tag == "img":
            self.images.append(attrs)
        if tag not in ("img", "meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page(files, name, capsys):
    to = files / f"{name}.html"
    assert _commands.main(["report", str(files / f"{name}.nc"), "-o", str(to)]) == 0
    assert capsys.readouterr().out.strip() == str(to)
    return Reader(to.read_text())


def test_a_page_says_how_instances_ended_and_how_to_make_them_again(files, capsys):
    import xarray as xr

    read = page(files, "rows", capsys)
    with xr.open_dataset(files / "rows.nc") as ds:
        failed = np.flatnonzero(~ds.saltus.ok.values)
        slowest = np.argsort(-ds["rhs_evaluations"].values, kind="stable")[:10]
        for text in (ds.attrs["spec"].strip(), ds.attrs["model_hash"], ds.attrs["compiler"], "raise max_events", f"{len(failed)} failed"):
            assert text in read.text
        again = re.findall(r"ds\.saltus\.rerun\((\d+)\)", read.text)
        assert len(failed) > 0 and [int(k) for k in again] == [*failed[:10], *slowest]
    opening, = set(re.findall(r"import saltus, xarray; ds = xarray\.open_dataset\('.*?'\)", read.text))
    made = {}
    exec(opening, made)
    again = eval(f"ds.saltus.rerun({failed[0]})", made)
    assert float(again["t_final"]) == float(made["ds"]["t_final"][failed[0]])
    assert len(read.images) >= 5 and all(len(image["alt"]) > 10 for image in read.images)
    assert all(address.startswith("data:image/png;base64,") for address in read.addresses)  # no network access


@pytest.mark.parametrize("name, pictures", [("indices", 2), ("morris", 3), ("one", 0), ("failed", 0)])
def test_pages_of_results_that_have_less(files, capsys, name, pictures):
    assert len(page(files, name, capsys).images) >= pictures


@pytest.mark.parametrize("arguments, made", [
    (["rows.nc"], "rows_bands.png"),
    (["indices.nc"], "indices_sobol.png"),
    (["rows.nc", "phase", "height", "velocity", "--instances", "0,3", "-o", "phase.svg"], "phase.svg"),
    (["rows.nc", "bifurcation", "velocity", "--over", "restitution", "--guard", "impact", "--last", "2", "-o", "b.pdf"], "b.pdf"),
])
def test_a_picture_is_written_and_named(files, capsys, monkeypatch, arguments, made):
    monkeypatch.chdir(files)
    assert _commands.main(["plot", *arguments]) == 0
    assert capsys.readouterr().out == f"{made}\n" and (files / made).stat().st_size > 3000


@pytest.mark.parametrize("arguments, words", [
    (["rows.nc", "phas"], "did you mean phase?"),
    (["rows.nc", "phase", "height"], "phase X Y"),
    (["rows.nc", "raster", "--over", "restitution"], "--over: is no option of raster"),
    (["rows.nc", "outcome", "hight"], "not in the result"),
    (["rows.nc", "raster", "-o", "rows.nc"], "is the result itself"),
    (["rows.nc", "raster", "-o", "rows.bmp7"], ".png"),
    (["rows.nc", "--ovr", "a"], "--ovr"),
    (["none.nc"], "no such file"),
    (["text.nc"], "no NetCDF file"),
])
def test_a_misused_command_gets_one_sentence(files, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(files)
    (files / "text.nc").write_text("no NetCDF\n")
    before = (files / "rows.nc").read_bytes()
    assert _commands.main(["plot", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("saltus plot: ") and words in said
    assert (files / "rows.nc").read_bytes() == before


def test_kinds_are_the_methods():
    methods = {name for name in vars(_plot.Plot) if not name.startswith("_")}
    assert methods == set(_commands.KINDS)


def test_the_program_has_python_draw(files):
    if not PROGRAM.is_file():
        pytest.skip("the program is not built beside the package")
    environment = {
        **os.environ, "SALTUS_PYTHON": sys.executable, "MPLBACKEND": "Agg", "PYTHONPATH": str(Path(saltus.__file__).absolute().parents[1])}
    drawn = subprocess.run([PROGRAM, "plot", "rows.nc", "raster"], cwd=files, env=environment, capture_output=True, text=True)
    assert (drawn.returncode, drawn.stdout, drawn.stderr) == (0, "rows_raster.png\n", "")


@pytest.mark.long
def test_a_page_is_as_wide_as_a_telephone(files, capsys, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no browser: install chromium to have the width of pages tested")
    page(files, "rows", capsys)
    frame = tmp_path / "frame.html"
    frame.write_text(f"""<iframe id=f src="file://{files}/rows.html" style="border:0;width:390px;height:800px"></iframe><script>
        f.onload = () => document.body.append("widths", ...[f.contentDocument.documentElement.scrollWidth,
            ...[...f.contentDocument.images].map(i => i.getBoundingClientRect().right)].map(w => ` ${{Math.ceil(w)}}`), " end")</script>""")
    shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom",
                            f"--user-data-dir={tmp_path}/profile", "--virtual-time-budget=5000", f"file://{frame}"],
                           capture_output=True, text=True, timeout=60)
    widths = re.search(r"widths([ 0-9]+) end", shown.stdout)
    assert widths, shown.stderr[-500:]
    assert 300 < max(int(w) for w in widths[1].split()) <= 390  # widths of page and pictures
