#!/usr/bin/env python3
"""Throughput against the number of instances, from the measurements of `saltus bench --growth --json`.

    plot_growth.py GROWTH.json [PICTURE.svg]

Prints a table in Markdown. With PICTURE, also draws it, which needs matplotlib: bars extend from the slowest to the fastest run, and
a dashed line shows where another backend becomes faster than the first.
"""
import json
import pathlib
import sys

# Colours that are distinguishable with any colour vision (Okabe, Ito), and a mark for each.
LOOKS = [("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#cc79a7", "v")]


def read(path):
    """The object with the curves: the whole file, or its part `curves` (results.json of bench/gpu/run.sh)."""
    found = json.loads(pathlib.Path(path).read_text())
    return found["curves"] if isinstance(found["curves"], dict) else found


def number(x):
    """1143000 -> 1.143 M"""
    for prefix in ["", " k", " M", " G"]:
        if abs(x) < 1000 or prefix == " G":
            return f"{x:.4g}{prefix}"
        x /= 1000


def table(measured):
    curves = measured["curves"]
    rates = [{p["instances"]: p["instances_per_second"] for p in curve["points"]} for curve in curves]
    yield "| instances | " + " | ".join(f"{curve['backend']}, per s | lowest .. highest" for curve in curves) + " |"
    yield "|---|" + "---|---|" * len(curves)
    for count in sorted({count for rate in rates for count in rate}):
        cells = []
        for rate in rates:
            r = rate.get(count)
            cells += [number(r["median"]), f"{number(r['low'])} .. {number(r['high'])}"] if r else ["-", "-"]
        yield f"| {count} | " + " | ".join(cells) + " |"


def heading(measured):
    step = measured["fixed_step"]
    return f"{measured['model']}, {measured['method']}, " + (f"step {step:g}" if step > 0 else f"rtol {measured['rtol']:g}")


def draw(measured, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    # Makes identical files from identical numbers, with searchable text.
    plt.rcParams.update({"svg.hashsalt": "saltus", "svg.fonttype": "none", "font.size": 9})
    figure, axis = plt.subplots(figsize=(7.0, 4.2))
    for curve, (colour, mark) in zip(measured["curves"], LOOKS):
        x = [p["instances"] for p in curve["points"]]
        rates = [p["instances_per_second"] for p in curve["points"]]
        y = [r["median"] for r in rates]
        bars = [[r["median"] - r["low"] for r in rates], [r["high"] - r["median"] for r in rates]]
        device = curve["device"].split(",")[0]
        axis.errorbar(x, y, yerr=bars, color=colour, marker=mark, markersize=4, linewidth=1.2, capsize=2, label=device)
        at = measured.get(curve["backend"] + "_overtakes_at")
        if at:
            axis.axvline(at, color="black", linestyle="--", linewidth=0.8)
            axis.text(at, 0.98, f" {curve['backend']} overtakes: {at:.3g}", transform=axis.get_xaxis_transform(), va="top")
    axis.set(title=heading(measured), xscale="log", yscale="log", xlabel="instances", ylabel="instances per second")
    axis.grid(True, which="major", linewidth=0.4, alpha=0.6)
    axis.legend(loc="lower right", frameon=False)
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None} if picture.endswith(".svg") else None)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: plot_growth.py GROWTH.json [PICTURE.svg]")
    measured = read(sys.argv[1])
    print(f"{heading(measured)}; {measured['curves'][0]['device']}\n")
    print("\n".join(table(measured)))
    if len(sys.argv) == 3:
        draw(measured, sys.argv[2])


if __name__ == "__main__":
    main()
