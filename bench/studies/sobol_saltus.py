import saltus

ball = saltus.builtin("bouncing_ball")
problem = {"names": ["restitution", "height", "gravity"], "bounds": [[0.5, 0.9], [0.8, 1.2], [9.0, 10.6]]}


def study(n, rtol):
    ds = ball.run(t=(0, 0.55), rtol=rtol, problem=problem, design="saltelli", count=n, rows=False, reduce=["max(velocity)"],
                  indices=["max(velocity)"])
    return ds["sensitivity_first_order"].values[0]
