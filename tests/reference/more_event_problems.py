#!/usr/bin/env python3
"""Prints the numbers of tests/reference_more_events.hpp. Needs python3-mpmath; half a minute.

Most of these models have closed forms between events, so that an event is a root of a formula. Three have none (stick-slip in
the slip phase, Izhikevich's neuron, the two tanks): they are integrated by Gragg's midpoint rule with extrapolation at two
tolerances, and the digits on which the two agree are printed. Nothing is taken from saltus."""
import sys

import mpmath as mp

mp.mp.dps = 32
num = mp.mpf


def show(case, **values):
    for name, value in values.items():
        print(f"{case:<30} {name:<20} {mp.nstr(num(value), 20, min_fixed=-20, max_fixed=20)}", flush=True)


def show_events(case, events, before=(), first=6):
    """Events are (time, guard, state before, ...); the names in `before` belong to the first entries of that state."""
    show(case, events=len(events))
    for n, event in enumerate(events, 1):
        if n <= first or n == len(events):
            show(case, **{f"{n} {event[1]}": event[0]})
            show(case, **{f"  {name}": value for name, value in zip(before, event[2])} if len(event) > 2 else {})


def first_root(g, start, end, step):
    """The first t in (start, end] where g, positive before, reaches zero; none if there is no such t."""
    t = start
    while t < end:
        ahead = min(t + step, end)
        if g(ahead) <= 0:
            return mp.findroot(g, (t, ahead), solver="anderson", tol=num(10) ** -56) if g(t) > 0 else None
        t = ahead
    return None


# --- integration without a formula ---------------------------------------------------------------------------------


def extrapolated_step(f, y, h, columns=11):
    """One step of y' = f(y) of order 2 * columns, and an estimate of its error (Hairer, Norsett, Wanner, II.9)."""
    rows = []
    for k in range(1, columns + 1):
        d = h / (2 * k)
        slope = f(y)
        z0, z1 = y, [a + d * b for a, b in zip(y, slope)]
        for _ in range(1, 2 * k):
            slope = f(z1)
            z0, z1 = z1, [a + 2 * d * b for a, b in zip(z0, slope)]
        row = [[(a + b + d * c) / 2 for a, b, c in zip(z0, z1, f(z1))]]
        for j in range(1, k):
            r = (num(k) / (k - j)) ** 2 - 1
            row.append([a + (a - b) / r for a, b in zip(row[-1], rows[-1][j - 1])])
        rows.append(row)
    best, second = rows[-1][-1], rows[-1][-2]
    return best, max(abs(a - b) / (1 + abs(a)) for a, b in zip(best, second))


def until(f, y, stops, tolerance, h_max):
    """Integrates y' = f(y) to the first stop (name, g, direction); returns its name and the state there.

    A stop that is zero at the beginning is armed only after it has left zero."""
    h = h_max / 16
    armed = {name: abs(g(y)) > num(10) ** -20 for name, g, _ in stops}
    while True:
        new, error = extrapolated_step(f, y, h)
        grow = num("0.9") * (tolerance / (error + tolerance / 10**9)) ** (num(1) / 21)
        if not error <= tolerance:
            h *= max(grow, num("0.1"))
            continue
        found = []
        for name, g, direction in stops:
            if armed[name] and direction * g(y) < 0 <= direction * g(new):
                found.append(locate(f, y, h, g) + (name,))
            armed[name] = armed[name] or abs(g(new)) > num(10) ** -20
        if found:
            _, at, name = min(found, key=lambda root: root[0])
            return name, at
        y, h = new, min(h * min(grow, num(2)), h_max)


def locate(f, y, h, g):
    """The root of g within a step of h from y, by the secant rule on re-integrated steps."""
    a, b = num(0), h
    ga, gb = g(y), g(extrapolated_step(f, y, h)[0])
    for _ in range(60):
        c = b - gb * (b - a) / (gb - ga)
        a, ga, b = b, gb, c
        at = extrapolated_step(f, y, b)[0]
        gb = g(at)
        if abs(b - a) < num(10) ** -28 * (1 + abs(h)) or gb == ga:
            return b, at
    sys.exit("an event was not located")


def twice(case, names, run, before=(), first=6):
    """Runs at two tolerances and prints the digits on which they agree."""
    (y, events), (y2, events2) = run(num(10) ** -24), run(num(10) ** -21)
    assert [e[1] for e in events] == [e[1] for e in events2]

    def agreed(label, a, b):
        gap = abs(a - b) / max(abs(a), num(10) ** -3)
        digits = 20 if gap == 0 else int(min(20, -mp.log10(gap)))
        print(f"{case:<30} {label:<20} {mp.nstr(a, digits, min_fixed=-20, max_fixed=20):<28} ({digits} digits)", flush=True)

    show(case, events=len(events))
    for n, (e, e2) in enumerate(zip(events, events2), 1):
        if n <= first or n == len(events):
            agreed(f"{n} {e[1]}", e[0], e2[0])
            for name, a, b in zip(before, e[2], e2[2]):
                agreed(f"  {name}", a, b)
    for name, a, b in zip(names, y, y2):
        agreed(name, a, b)


# --- filippov_plane ------------------------------------------------------------------------------------------------


def filippov_plane(t_end=num(1), x=num("1.5"), y=num(1), plus=(-2, "1.5"), minus=(2, -3)):
    plus, minus = [num(a) for a in plus], [num(a) for a in minus]
    p, m = plus[0] - plus[1], minus[0] - minus[1]
    t = (y - x) / p  # it starts on the right
    x, y = x + t * plus[0], y + t * plus[1]
    alpha = m / (m - p) if m > 0 else num(0)
    rate = [alpha * a + (1 - alpha) * b for a, b in zip(plus, minus)]
    case = "filippov_plane " + ("slides" if m > 0 else "passes")
    show_events(case, [(t, "diagonal", (x, y))], ("x", "y"))
    show(case, x=x + (t_end - t) * rate[0], y=y + (t_end - t) * rate[1])


# --- stick_slip ----------------------------------------------------------------------------------------------------


def stick_slip(t_end, damping="0", sticking=False):
    """Slip phases by integration, stick phases exactly: x' = v_belt until k x + c v_belt = F."""
    m, k, c, belt, force, decay = num(1), num(1), num(damping), num("0.2"), num(1), num(3)
    t_end = num(t_end)
    loose = (force - c * belt) / k

    def slip(y):  # slower than the belt, which pulls the block forwards
        _, x, v = y
        return [num(1), v, (force / (1 + decay * (belt - v)) - k * x - c * v) / m]

    def run(tolerance):
        y, events = [num(0), num(0), num(0)], []
        if sticking:
            y = [loose / belt, loose, belt]
            events.append((y[0], "leaves_stick", (loose, belt)))
        while True:
            what, y = until(slip, y, [("stick", lambda y: y[2] - belt, 1), ("end", lambda y: y[0] - t_end, 1)], tolerance,
                            num("0.4"))
            if what == "end":
                return y[1:], events
            assert abs(k * y[1] + c * belt) < force, "it would pass the velocity of the belt"
            events.append((y[0], "stick", (y[1], belt)))
            leave = y[0] + (loose - y[1]) / belt
            if leave > t_end:
                return [y[1] + belt * (t_end - y[0]), belt], events
            events.append((leave, "leaves_stick", (loose, belt)))
            y = [leave, loose, belt]

    twice(f"stick_slip c={damping}" + (" sticking" if sticking else ""), ("position", "velocity"), run, ("position",))


# --- relay ---------------------------------------------------------------------------------------------------------


def relay(x, t_end, gain="1", slope="1", disturbance="0.2"):
    K, c, d = num(gain), num(slope), num(disturbance)
    x, v, t, t_end, events = num(x), num(0), num(0), num(t_end), []
    side = 1 if c * x + v > 0 else -1
    case = f"relay x={mp.nstr(x, 3)}"
    while True:
        a = d - K * side  # s(tau) = (c x + v) + (c v + a) tau + c a tau^2 / 2
        s, r = (c * x + v if not events else num(0)), c * v + a
        if s == 0:
            tau = -2 * r / (c * a)
        else:
            root = mp.sqrt(r * r - 2 * c * a * s)
            tau = min(q for q in ((-r + root) / (c * a), (-r - root) / (c * a)) if q > 0)
        t, x, v = t + tau, x + v * tau + a * tau * tau / 2, v + a * tau
        events.append((t, "switching", (x, v)))
        side = -side
        if abs(c * v + d) < K:
            break
    show_events(case, events, ("position", "velocity"))
    x *= mp.exp(-c * (t_end - t))
    show(case, position=x, velocity=-c * x)


# --- coulomb_oscillator --------------------------------------------------------------------------------------------


def coulomb_oscillator(case, t_end, amplitude, frequency, static, kinetic):
    m, k, A, w, Fs, Fk = num(1), num(1), num(amplitude), num(frequency), num(static), num(kinetic)
    own, far = mp.sqrt(k / m), A / (k - m * w * w)
    force = lambda t, x: A * mp.cos(w * t) - k * x
    t, x, t_end, events = num(0), num(0), num(t_end), []
    sense = 1 if force(t, x) >= Fs else -1 if force(t, x) <= -Fs else 0
    while True:
        if sense == 0:
            v = lambda tau: num(0)
            due = []
            for level, name in ((Fs, "push_right"), (-Fs, "push_left")):
                cosine = (level + k * x) / A
                if abs(cosine) <= 1:
                    for angle in (mp.acos(cosine), -mp.acos(cosine)):
                        n = mp.floor((w * t - angle) / (2 * mp.pi)) + 1
                        due.append(((angle + 2 * mp.pi * n) / w, name))
            at, name = min(due)
            if at > t_end:
                break
            t, sense = at, 1 if name == "push_right" else -1
            events.append((t, name, (x, num(0))))
            continue
        start, c, n = t, x - far * mp.cos(w * t) + sense * Fk / k, far * w * mp.sin(w * t) / own
        swing = lambda s: (mp.cos(own * (s - start)), mp.sin(own * (s - start)))
        place = lambda s: far * mp.cos(w * s) - sense * Fk / k + c * swing(s)[0] + n * swing(s)[1]
        v = lambda s: -far * w * mp.sin(w * s) + own * (n * swing(s)[0] - c * swing(s)[1])
        at = first_root(lambda s: sense * v(s), start, t_end, num("0.01"))
        if at is None:
            x = place(t_end)
            break
        t, x = at, place(at)
        events.append((t, "halt", (x, num(0))))
        sense = 1 if force(t, x) > Fs else -1 if force(t, x) < -Fs else 0
    show_events(case, events, ("position",), first=5)
    show(case, position=x, velocity=v(t_end), sense=sense)


# --- two_tanks -----------------------------------------------------------------------------------------------------


def two_tanks(case, t_end, levels=("0.25", "0.10"), upper="4e-5", high="0.22"):
    """Between two guards one head w may vanish, where its square root is not smooth. With w = z^2 and dt = 2 z ds all is smooth in
    s: w is a level above the upper pipe if only that one is above it, otherwise the difference of the levels."""
    area, low_pipe, outlet, height, inflow, low = (num(a) for a in ("0.015", "2e-5", "3e-5", "0.3", "1.5e-4", "0.12"))
    up_pipe, high, g2, t_end = num(upper), num(high), mp.sqrt(2 * num("9.81")), num(t_end)

    def run(tolerance):
        t, h1, h2, pump, events = num(0), num(levels[0]), num(levels[1]), 1, []
        up_1, up_2, downhill = h1 > height, h2 > height, 1 if h1 > h2 else -1
        while True:
            if up_1 != up_2:
                levels_of = lambda y: (height + y[1] ** 2, y[2]) if up_1 else (y[2], height + y[1] ** 2)
                head, other = (h1 - height, h2) if up_1 else (h2 - height, h1)
            else:
                levels_of = lambda y: (y[2] + downhill * y[1] ** 2, y[2])
                head, other = downhill * (h1 - h2), h2

            def f(y):
                (a, b), z = levels_of(y), y[1]
                if up_1 != up_2:
                    between = low_pipe * downhill * mp.sqrt(abs(a - b)) + (up_pipe if up_1 else -up_pipe) * z
                else:
                    between = downhill * (low_pipe + (up_pipe if up_1 else 0)) * z
                r1 = (pump * inflow - between * g2) / area
                r2 = (between - outlet * mp.sqrt(b)) * g2 / area
                w, rest = ((r1, r2) if up_1 else (r2, r1)) if up_1 != up_2 else (downhill * (r1 - r2), r2)
                return [2 * z, w, 2 * z * rest]

            stops = [("too_low", lambda y: levels_of(y)[1] - low, -1), ("too_high", lambda y: levels_of(y)[1] - high, 1),
                     ("end", lambda y: y[0] - t_end, 1)]
            if up_1 == up_2:
                direction = -1 if up_1 else 1
                stops += [("balance", lambda y: y[1], -1), ("spill_1", lambda y: levels_of(y)[0] - height, direction),
                          ("spill_2", lambda y: y[2] - height, direction)]
            else:
                full, empty = ("spill_1", "spill_2") if up_1 else ("spill_2", "spill_1")
                stops += [(full, lambda y: y[1], -1), (empty, lambda y: y[2] - height, 1)]
            what, y = until(f, [t, mp.sqrt(head), other], stops, tolerance, num(20))
            t, (h1, h2) = y[0], levels_of(y)
            if what == "end":
                return [h1, h2, num(pump)], events
            events.append((t, what, (h1, h2)))
            if what == "spill_1":
                h1, up_1 = height, not up_1
            elif what == "spill_2":
                h2, up_2 = height, not up_2
            elif what == "balance":
                h1, downhill = h2, -downhill
            elif what == "too_low":
                h2, pump = low, 1
            else:
                h2, pump = high, 0

    twice(case, ("level_1", "level_2", "pump"), run, ("level_1", "level_2"))


# --- pwm_boost_converter -------------------------------------------------------------------------------------------


def pwm_boost_converter(case, t_end, load, voltage, first=6, duty="0.5"):
    """Linear in each of its three modes; clock events are known, all other events are roots of the flow."""
    V, L, C, T, R, D = num(12), num("100e-6"), num("20e-6"), num("20e-6"), num(load), num(duty)
    a = 1 / (2 * R * C)
    w = mp.sqrt(1 / (L * C) - a * a)

    def flow(i, v, mode, s):
        if mode != "open":
            return (i + V / L * s if mode == "closed" else i), v * mp.exp(-s / (R * C))
        x, y = i - V / R, v - V  # about the equilibrium: x' = -y / L, y' = x / C - 2 a y
        e, c, n = mp.exp(-a * s), mp.cos(w * s), mp.sin(w * s) / w
        return V / R + e * (c * x + n * (a * x - y / L)), V + e * (c * y + n * (x / C - a * y))

    i, v, t, mode, edge, events, t_end = num(0), num(voltage), num(0), "closed", 1, [], num(t_end)
    while True:
        tick = ((edge // 2) + (D if edge % 2 else 0)) * T
        ahead = min(tick, t_end)
        dry = None
        if mode == "open" and i > 0:
            dry = first_root(lambda s: flow(i, v, mode, s)[0], num(0), ahead - t, T / 200)
        if mode == "blocked":
            assert flow(i, v, mode, ahead - t)[1] > V, "the diode would conduct again"
        if dry is not None:
            before = flow(i, v, mode, dry)
            events.append((t + dry, "dry", (num(0), before[1])))
            t, i, v, mode = t + dry, num(0), before[1], "blocked" if before[1] > V else "open"
            continue
        i, v = flow(i, v, mode, ahead - t)
        t = ahead
        if tick >= t_end:
            break
        events.append((t, "switch_off" if edge % 2 else "switch_on", (i, v)))
        mode = "open" if edge % 2 else "closed"
        edge += 1
    show_events(case, events, ("current", "voltage"), first)
    show(case, **{what: sum(e[1] == what for e in events) for what in ("switch_on", "switch_off", "dry")})
    show(case, current=i, voltage=v, closed=mode == "closed", blocked=mode == "blocked")


# --- izhikevich ----------------------------------------------------------------------------------------------------


def izhikevich(case, t_end, c, d, stimulus="10", onset="10"):
    a, b, c, d, peak = num("0.02"), num("0.2"), num(c), num(d), num(30)
    t_end, onset, stimulus = num(t_end), num(onset), num(stimulus)

    def run(tolerance):
        y, current, events = [num(0), num(-65), b * -65], num(0), []
        while True:
            f = lambda y: [num(1), num("0.04") * y[1] ** 2 + 5 * y[1] + 140 - y[2] + current, a * (b * y[1] - y[2])]
            stops = [("spike", lambda y: y[1] - peak, 1), ("end", lambda y: y[0] - t_end, 1)]
            if current != stimulus:
                stops.append(("step", lambda y: y[0] - onset, 1))
            what, y = until(f, y, stops, tolerance, num(2))
            if what == "end":
                return y[1:], events
            events.append((y[0], what, tuple(y[1:])))
            if what == "step":
                current = stimulus
            else:
                y = [y[0], c, y[2] + d]

    twice(case, ("v", "u"), run, ("v", "u"))


# --- rimless_wheel -------------------------------------------------------------------------------------------------


class leg:
    """theta'' = sin(theta) from (theta0, w0), by elliptic functions of phi = pi - theta: sin(phi / 2) = sn."""

    def __init__(self, theta0, w0):
        self.theta0, self.w0 = theta0, w0
        self.k2 = w0 * w0 / 4 + mp.cos(theta0 / 2) ** 2  # > 1: the wheel passes the top

    def passes(self):
        return self.k2 > 1

    def time_to(self, theta):
        """Time from theta0 < theta, forwards over the top."""
        k = mp.sqrt(self.k2)
        return (mp.ellipf((mp.pi - self.theta0) / 2, 1 / self.k2) - mp.ellipf((mp.pi - theta) / 2, 1 / self.k2)) / k

    def time_back(self):
        """Time to the turning point and back to theta0."""
        k = mp.sqrt(self.k2)
        return 2 * (mp.ellipk(self.k2) - mp.ellipf(mp.asin(mp.cos(self.theta0 / 2) / k), self.k2))

    def state(self, tau):
        """State after tau, on the way over the top."""
        k = mp.sqrt(self.k2)
        u = mp.ellipf((mp.pi - self.theta0) / 2, 1 / self.k2) - k * tau
        sn, cn, dn = (mp.ellipfun(name, u, m=1 / self.k2) for name in ("sn", "cn", "dn"))
        return 2 * mp.atan2(cn, sn), 2 * k * dn


def rimless_wheel(case, t_end, w="0.5", gamma="0.08"):
    alpha, gamma, w, t_end = mp.pi / 8, num(gamma), num(w), num(t_end)
    r, gain = mp.cos(2 * alpha), 4 * mp.sin(gamma) * mp.sin(alpha)
    show(case, steady_before=mp.sqrt(gain) / mp.sin(2 * alpha), steady_after=mp.sqrt(gain) / mp.tan(2 * alpha),
         least_over_the_top=mp.sqrt(2 - 2 * mp.cos(gamma - alpha)))
    t, events = num(0), []
    while True:
        now = leg(gamma - alpha, w)
        assert now.passes()
        tau = now.time_to(gamma + alpha)
        if t + tau > t_end:
            theta, w = now.state(t_end - t)
            break
        before = mp.sqrt(w * w + gain)
        assert abs(now.state(tau)[0] - (gamma + alpha)) < num(10) ** -25 and abs(now.state(tau)[1] - before) < num(10) ** -25
        t, w = t + tau, r * before
        events.append((t, "front", (before,)))
    show_events(case, events, ("velocity",))
    show(case, angle=theta, velocity=w)


def rimless_wheel_at_rest(case, w, gamma="0.02"):
    """The times of rocking add up; uses 110 digits, since the time of a small swing is a small difference."""
    digits, mp.mp.dps = mp.mp.dps, 110
    alpha, gamma, w = mp.pi / 8, num(gamma), num(w)
    r, gain = mp.cos(2 * alpha), 4 * mp.sin(gamma) * mp.sin(alpha)
    t, events, on_front = num(0), [], True  # standing on the leg in front, moving downhill
    while len(events) < 240:
        now = leg(gamma - alpha if on_front else gamma + alpha, w)
        if on_front and now.passes():
            t += now.time_to(gamma + alpha)
            w = r * mp.sqrt(w * w + gain)
            events.append((t, "front"))
            continue
        t += now.time_back()  # the rear leg strikes with the speed at which it left
        w *= r
        events.append((t, "back" if on_front else "front"))
        on_front = not on_front
    show_events(case, events[:-1], first=8)
    show(case, limit=t, angle=gamma - alpha)
    mp.mp.dps = digits


# --- newtons_cradle ------------------------------------------------------------------------------------------------


def newtons_cradle(case, raised, t_end, e=1):
    """All bobs pass their rest positions at odd multiples of a quarter period, for all speeds. With e < 1 only one click is
    followed: after it the bobs drift apart and the next click depends on rounding."""
    e, w, reach, t_end, bobs = num(e), mp.pi, num("0.1"), num(t_end), 5
    clicks = int(mp.floor(t_end + num("0.5")))
    assert e == 1 or clicks == 1
    events, v = [], [-reach * w if i < raised else num(0) for i in range(bobs)]
    for n in range(clicks):
        v = [-a for a in v]  # velocities at the next click without an impact
        while due := [i for i in range(bobs - 1) if v[i] > v[i + 1]]:
            events += [(n + num("0.5"), f"contact_{i}") for i in due]
            for i in due:
                if v[i] > v[i + 1]:
                    v[i], v[i + 1] = (1 - e) / 2 * v[i] + (1 + e) / 2 * v[i + 1], (1 - e) / 2 * v[i + 1] + (1 + e) / 2 * v[i]
    tau = t_end - clicks + num("0.5")
    show_events(case, events, first=14)
    show(case, **{f"displacement_{i}": v[i] / w * mp.sin(w * tau) for i in range(bobs)},
         **{f"velocity_{i}": v[i] * mp.cos(w * tau) for i in range(bobs)})


# --- pulsed_dose ---------------------------------------------------------------------------------------------------


def pulsed_dose(case, t_end, t_first="6", t_loading="0.5"):
    ka, ke, volume, t_end = num("1.2"), num("0.15"), num(40), num(t_end)
    doses = [(num(t_loading), "loading_dose", num(400))]
    t = num(t_first)
    while t < t_end:
        doses.append((t, "dose", num(250)))
        t += 8
    doses.sort(key=lambda dose: (dose[0], dose[1]))
    gut = sum(a * mp.exp(-ka * (t_end - t)) for t, _, a in doses)
    blood = sum(a * ka / (ka - ke) * (mp.exp(-ke * (t_end - t)) - mp.exp(-ka * (t_end - t))) for t, _, a in doses)
    show_events(case, [dose[:2] for dose in doses], first=3)
    show(case, gut=gut, blood=blood, concentration=blood / volume)


filippov_plane()
filippov_plane(minus=(-1, 1))
relay("4", "6")
relay("10", "10")
coulomb_oscillator("coulomb_oscillator stops", "40", "1", "0.5", "0.6", "0.5")
coulomb_oscillator("coulomb_oscillator mixed", "40", "1", "0.25", "0.3", "0.25")
coulomb_oscillator("coulomb_oscillator turns", "20", "2", "1.5", "0.5", "0.4")
pwm_boost_converter("pwm_boost_converter R=24", "1.03e-4", 24, 12)
pwm_boost_converter("pwm_boost_converter R=24, long", "1.993e-3", 24, 12, 0)
pwm_boost_converter("pwm_boost_converter R=480", "1.97e-4", 480, 30)
rimless_wheel("rimless_wheel", "10")
rimless_wheel_at_rest("rimless_wheel at rest", "0.5")
for raised, t_end, e in ((1, "4.7", 1), (2, "2.2", 1), (3, "1.3", 1), (1, "0.8", "0.9")):
    newtons_cradle(f"newtons_cradle {raised} e={e}", raised, t_end, e)
pulsed_dose("pulsed_dose", "50")
pulsed_dose("pulsed_dose, two at once", "10", t_loading="6")
izhikevich("izhikevich regular", "200", -65, 8)
izhikevich("izhikevich chattering", "80", -50, 2)
stick_slip("40")
stick_slip("8", sticking=True)
stick_slip("40", "0.1")
two_tanks("two_tanks", "600")
two_tanks("two_tanks, backflow", "200", ("0.1", "0.4"), "8e-5", "0.34")
