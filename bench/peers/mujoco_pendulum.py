#!/usr/bin/env python3
"""The compound pendulum in redundant coordinates by saltus and by MuJoCo, on one core: a table in Markdown.

    bench/peers/mujoco_pendulum.py SALTUS [--quick] [--revision TEXT]

MuJoCo has the same rod with two slides and a hinge, its end held by a `connect` constraint as stiff as its step allows, and takes
fixed steps, one instance after another; its loop runs through Python, which costs some 0.5 us a step. saltus integrates an ensemble
with error control on one thread with the lanes of this machine. Errors are of the angle at t = 5, whose exact value follows from
elliptic functions; `joint` is the distance of the rod's end from its bearing, for MuJoCo at t = 5, for saltus the largest after any step.
"""
import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mujoco
import netCDF4

EXACT = 0.3738942186662719547
ROD = """
<mujoco>
  <option gravity="0 0 -9.81" integrator="{integrator}" timestep="{h}" iterations="100" tolerance="1e-14" solver="Newton"/>
  <worldbody>
    <body name="rod" pos="0 0 -0.5">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 -1 0"/>
      <inertial pos="0 0 0" mass="36" diaginertia="3 3 3"/>
    </body>
  </worldbody>
  <equality><connect body1="rod" anchor="0 0 0.5" solref="{stiff} 1" solimp="0.9999 0.9999 0.001"/></equality>
</mujoco>
"""


def by_mujoco(integrator, h):
    """Error of the angle, distance at the joint, seconds per instance."""
    model = mujoco.MjModel.from_xml_string(ROD.format(integrator=integrator, h=h, stiff=2 * h))
    data = mujoco.MjData(model)
    angle, omega = math.radians(20), 1.0
    data.qpos[:] = [0.5 * math.sin(angle), 0.5 - 0.5 * math.cos(angle), angle]
    data.qvel[:] = [0.5 * math.cos(angle) * omega, 0.5 * math.sin(angle) * omega, omega]
    begin = time.process_time()
    for _ in range(round(5 / h)):
        mujoco.mj_step(model, data)
    seconds = time.process_time() - begin
    x, z, angle = data.qpos
    return abs(angle - EXACT), math.hypot(x - 0.5 * math.sin(angle), z - 0.5 + 0.5 * math.cos(angle)), seconds


def processor_seconds():
    """Processor time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_saltus(saltus, method, rtol, count):
    """The same quantities for saltus; the seconds are those beyond a run of eight instances, to exclude the program's own."""
    for _ in range(2):  # the first may compile
        *_, before = run_saltus(saltus, method, rtol, 8)
    error, joint, seconds = run_saltus(saltus, method, rtol, count)
    return error, joint, (seconds - before) / (count - 8)


def run_saltus(saltus, method, rtol, count):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pendulum.nc"
        # Lanes that differ slightly: the first has no friction, and its solution is known.
        settings = [f"rtol={rtol}", f"atol={rtol}", f"sweep.friction={{from=0.0, to=0.01, count={count}}}", "run.threads=1", "run.lanes=8"]
        begin = processor_seconds()
        run = subprocess.run([saltus, "run", "compound_pendulum", "--method", method, "--json", "-o", file,
                              *(word for s in settings for word in ("--set", s))], capture_output=True, text=True, check=True)
        seconds = processor_seconds() - begin
        told = json.loads(run.stdout)
        if told["ok"] != count:
            sys.exit(f"saltus: {told['ok']} of {count} instances are right")
        with netCDF4.Dataset(file) as data:
            error = abs(float(data["final_angle"][0]) - EXACT)
            joint = float(data["residual"][:].max())
        return error, joint, seconds


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("saltus")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--revision", default="")
    chosen = arguments.parse_args()
    count = 512 if chosen.quick else 20000
    rows = [("MuJoCo " + mujoco.__version__, f"{how}, h = {h:g}", *by_mujoco(how, h))
            for how in ("implicitfast", "RK4") for h in ((1e-2,) if chosen.quick else (1e-2, 1e-3, 1e-4))]
    rows += [("saltus", f"{method}, rtol = {rtol:g}", *by_saltus(chosen.saltus, method, rtol, count))
             for method in ("dp5", "dop853") for rtol in ((1e-6,) if chosen.quick else (1e-3, 1e-5, 1e-7, 1e-9, 1e-11))]
    print(f"saltus {chosen.revision}, {time.strftime('%Y-%m-%d')}, one core\n")
    print("| by | how | error of the angle | joint off by, m | us for 5 s of one pendulum |")
    print("|---|---|---:|---:|---:|")
    for by, how, error, joint, seconds in rows:
        print(f"| {by} | {how} | {error:.1e} | {joint:.1e} | {seconds * 1e6:,.1f} |")


if __name__ == "__main__":
    main()
