# Times at which a ball touches and leaves a hard ground (problems/stiff_ball.hpp), with derivatives by gravity, stiffness and damping:
# flight and contact in closed form, the end of a contact by root finding, central differences, all with 60 digits (mpmath).
from mpmath import cos, exp, findroot, mp, mpf, sin, sqrt

mp.dps = 60
TIMES = 6


def times(gravity, stiffness, damping):
    decay, rest = damping / 2, gravity / stiffness  # unit mass; rest is the depth below the ground at rest
    omega = sqrt(stiffness - decay**2)
    t = sqrt(2 / gravity)
    velocity = -gravity * t
    all = [t]
    while len(all) < TIMES:
        sine = (velocity + decay * rest) / omega
        height = lambda s: exp(-decay * s) * (rest * cos(omega * s) + sine * sin(omega * s)) - rest
        step = mp.pi / omega / 200
        after = next(k for k in range(1, 4000) if height(k * step) < 0 <= height((k + 1) * step))
        s = findroot(height, (after * step, (after + 1) * step), solver="anderson", tol=mpf(10)**-50)
        place, rate = rest * cos(omega * s) + sine * sin(omega * s), omega * (sine * cos(omega * s) - rest * sin(omega * s))
        velocity = exp(-decay * s) * (rate - decay * place)
        t += s
        all.append(t)
        t += 2 * velocity / gravity
        velocity = -velocity
        all.append(t)
    return all


at = {"gravity": mpf("9.81"), "stiffness": mpf(10)**8, "damping": mpf(2000)}
columns = []
for name, value in at.items():
    d = value * mpf(10)**-15
    columns.append([(a - b) / (2 * d) for a, b in zip(times(**{**at, name: value + d}), times(**{**at, name: value - d}))])
for t, *by in zip(times(**at), *columns):
    print(f"{mp.nstr(t, 17)}:", *(mp.nstr(number, 17) for number in by))
