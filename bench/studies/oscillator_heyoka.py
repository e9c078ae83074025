import heyoka as hy
import numpy as np

x, v = hy.make_vars("x", "v")


def impact(ta, sign):
    ta.state[1] *= -0.8
    impact.speed = ta.state[1]
    return True


wall = hy.t_event(x, callback=impact, direction=hy.event_direction.positive)
system = [(x, v), (v, hy.cos(hy.par[0] * hy.time) - x)]
integrators = {}


def study(n, rtol):
    if rtol not in integrators:
        integrators[rtol] = hy.taylor_adaptive(system, [0.0, 0.0], tol=rtol, pars=[0.0], t_events=[wall])
    ta, last = integrators[rtol], []
    for frequency in np.linspace(2.35, 2.45, n):
        ta.time, ta.pars[0], ta.state[:] = 0.0, frequency, [-0.1, 0.0]
        ta.reset_cooldowns()
        ta.propagate_until(400.0)
        last.append(impact.speed)
    return np.array(last)
