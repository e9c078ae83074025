"""Work-precision diagrams from the scans of bench/beside.

    work_precision.py RESULTS.json FOLDER

Writes FOLDER/work_precision.svg: for each problem the processor time per instance against the median error, with one line per
package: those settings of all its methods that no other setting beats in both time and accuracy.
"""
import json
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Colours that also differ in lightness, and a mark for each.
looks = {
    "saltus": ("#d62728", "o"),
    "heyoka": ("#1f77b4", "s"),
    "odeint": ("#2ca02c", "^"),
    "SUNDIALS": ("#9467bd", "v"),
    "SciPy": ("#7f7f7f", "x"),
}


def best(settings):
    """The settings that no other one beats in both time and accuracy, from tight to loose."""
    left, fastest = [], math.inf
    for setting in sorted(settings, key=lambda s: (s["median"], s["us"])):
        if setting["us"] < fastest:
            left.append(setting)
            fastest = setting["us"]
    return left


def main():
    results, folder = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    # Makes identical files from identical numbers, with searchable text.
    plt.rcParams.update({"svg.hashsalt": "saltus", "svg.fonttype": "none", "font.size": 9})
    columns = min(3, len(results))
    rows = -(-len(results) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.6 * columns, 3.0 * rows), squeeze=False, sharex=True)
    for axis in axes.flat[len(results) :]:
        axis.set_visible(False)
    for axis, result in zip(axes.flat, results):
        for family, (colour, mark) in looks.items():
            good = [s for s in result["scanned"] if s["family"] == family and s["failed"] == 0]
            line = best([s for s in good if 1e-14 < s["median"] < 1e-2])
            if line:
                x, y = [s["median"] for s in line], [s["us"] for s in line]
                axis.plot(x, y, color=colour, marker=mark, markersize=4, linewidth=1.2, label=family)
        axis.set(title=result["problem"], xscale="log", yscale="log", xlim=(1e-2, 1e-13))
        axis.grid(True, which="major", linewidth=0.4, alpha=0.6)
    for axis in axes[-1]:
        axis.set_xlabel("median error at the end")
    for axis in axes[:, 0]:
        axis.set_ylabel("µs per instance")
    handles = {label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=len(handles), frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    figure.savefig(folder / "work_precision.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
