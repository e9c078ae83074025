#!/usr/bin/env python3
"""Prints the numbers of tests/reference_problems.hpp that are known in closed form, to 20 digits. Needs python3-mpmath.

Each function states the solution of one model of problems/ by analysis; nothing here integrates an equation."""
import mpmath as mp

mp.mp.dps = 40


def show(case, **values):
    for name, value in values.items():
        print(f"{case:<28} {name:<18} {mp.nstr(value, 20, min_fixed=-20, max_fixed=20)}")


def bouncing_ball(g=mp.mpf("9.81"), e=mp.mpf("0.7"), h0=mp.mpf(1), v_min=mp.mpf("0.1")):
    fall = mp.sqrt(2 * h0 / g)
    t, speed, n = fall, mp.sqrt(2 * g * h0), 1
    show("bouncing_ball", t1=t, before1=-speed)
    while e * speed >= v_min:
        speed *= e
        t += 2 * speed / g
        n += 1
        if n <= 3:
            show("bouncing_ball", **{f"t{n}": t, f"before{n}": -speed})
    show("bouncing_ball", bounces=mp.mpf(n), stop=t, velocity=e * speed)
    t, speed = fall, e * mp.sqrt(2 * g * h0)
    tau = mp.mpf("0.8") - t
    show("bouncing_ball t=0.8", height=speed * tau - g * tau**2 / 2, velocity=speed - g * tau)


def ball_drag(g=mp.mpf("9.81"), k=mp.mpf("0.1"), e=mp.mpf("0.7"), h0=mp.mpf(1), t_end=mp.mpf(2)):
    c, w = mp.sqrt(g / k), mp.sqrt(g * k)
    fall = lambda h: (mp.acosh(mp.exp(k * h)) / w, c * mp.sqrt(1 - mp.exp(-2 * k * h)))
    t, speed = fall(h0)
    n = 1
    while True:
        if n <= 4:
            show("ball_drag", **{f"t{n}": t, f"before{n}": -speed})
        up = e * speed
        top = mp.log(1 + (up / c) ** 2) / (2 * k)
        rise = mp.atan(up / c) / w
        down, speed_next = fall(top)
        if t + rise + down > t_end:
            break
        t, speed, n = t + rise + down, speed_next, n + 1
    tau = t_end - t
    if tau < rise:
        v = c * mp.tan(mp.atan(up / c) - w * tau)
        h = top - mp.log(1 + (v / c) ** 2) / (2 * k)
    else:
        v = -c * mp.tanh(w * (tau - rise))
        h = top - mp.log(mp.cosh(w * (tau - rise))) / k
    show("ball_drag t=2", bounces=mp.mpf(n), height=h, velocity=v)


def impact_oscillator(r=mp.mpf("0.8"), w=mp.mpf("2.8")):
    a, k = 1 / (1 - w * w), mp.tan(mp.pi / w)
    p, q = (1 + r) / (2 * a * k), -(1 - r) / (2 * a * w)
    u = 1 / mp.sqrt(p * p + q * q)
    phase = mp.atan2(u * q, u * p) % (2 * mp.pi)
    first, period = phase / w, 2 * mp.pi / w
    c, s = -a * mp.cos(phase), a * w * mp.sin(phase) - r * u
    x = lambda t: a * mp.cos(w * t) + c * mp.cos(t - first) + s * mp.sin(t - first)
    v = lambda t: -a * w * mp.sin(w * t) - c * mp.sin(t - first) + s * mp.cos(t - first)
    show("impact_oscillator", before=u, cos_phase=mp.cos(phase), sin_phase=mp.sin(phase), period=period,
         start_position=x(first + (period - first)), start_velocity=v(first + (period - first)))
    show("impact_oscillator", **{f"t{n + 1}": first + n * period for n in range(4)})
    tau = mp.mpf(8) - 4 * period  # the orbit has the period of the drive
    show("impact_oscillator t=8", position=x(tau + period), velocity=v(tau + period))
    assert abs(x(first + period)) < mp.mpf(10) ** -35 and abs(v(first + period) - u) < mp.mpf(10) ** -35
    assert all(x(first + period * mp.mpf(j) / 1000) < 0 for j in range(1, 1000))


def thermostat(t_end=mp.mpf(10)):
    off, on = 10 * mp.log(mp.mpf(21) / 19), 10 * mp.log(mp.mpf(31) / 29)
    show("thermostat", off_phase=off, on_phase=on)
    t, n, heater = 10 * mp.log(mp.mpf(20) / 19), 1, True
    while t + (on if heater else off) <= t_end:
        if n <= 3:
            show("thermostat", **{f"t{n}": t})
        t, n, heater = t + (on if heater else off), n + 1, not heater
    decay = mp.exp(-(t_end - t) / 10)
    show("thermostat t=10", events=mp.mpf(n), heater=mp.mpf(heater),
         temperature=50 + (19 - 50) * decay if heater else 21 * decay)


def bok_1(A, near, t_end=mp.mpf(3)):
    A = mp.mpf(A)
    t, u, y3 = mp.mpf(0), mp.mpf(1), mp.mpf(0)
    for n, guess in enumerate(near, 1):
        root = mp.findroot(lambda x: mp.sin(mp.pi * x) - A * x, mp.mpf(guess))
        y3 += u**3 * (root - t)
        t, u = root, -u * A * root
        show(f"bok_1 A={mp.nstr(A, 4)}", **{f"t{n}": root})
    show(f"bok_1 A={mp.nstr(A, 4)}", y3=y3 + u**3 * (t_end - t), u=u)


def bok_3(*ends):
    """From (1, -b) the next event comes after -ln(b)/2, when the smaller magnitude has become sqrt(b)."""
    b = mp.mpf(2) ** mp.mpf("-1.5")
    events = [(mp.log(2) / 2, mp.mpf(1), -b, mp.mpf("0.25") + b - mp.mpf("0.5"))]
    while len(events) < 24:
        t, y1, y2, y3 = events[-1]
        b = min(y1, -y2)
        first_is_large = y1 == 1
        root = mp.sqrt(b)
        gain = (1 - root) - (1 - b) / 2
        events.append((t - mp.log(b) / 2, root if first_is_large else mp.mpf(1), mp.mpf(-1) if first_is_large else -root,
                       y3 + gain if first_is_large else y3 - gain))
    for n in (1, 2, 3, 20, 21):
        show("bok_3", **{f"t{n}": events[n - 1][0]})
    for end in ends:
        end = mp.mpf(end)
        n = sum(e[0] <= end for e in events)
        t, y1, y2, y3 = events[n - 1]
        a1, a2 = (2, -1) if n % 2 == 0 else (-1, 2)
        e1, e2 = mp.exp(a1 * (end - t)), mp.exp(a2 * (end - t))
        show(f"bok_3 t={mp.nstr(end, 7)}", events=mp.mpf(n), y1=y1 * e1, y2=y2 * e2,
             y3=y3 + y1 * (e1 - 1) / a1 + y2 * (e2 - 1) / a2)


def carver():
    show("carver_1 t=0.9", y=mp.exp(mp.mpf("0.5")) / 10)
    w = mp.mpf("3.5")
    for n, sixths in enumerate((1, 5, 7, 11, 13, 17, 19), 1):
        show("carver_2a", **{f"t{n}": sixths * mp.pi / 6 / w})
    show("carver_2a t=3", y=2 * mp.sin(3 * w) + mp.mpf("0.5"))  # sin(10.5) < -1/2
    for n in range(7):
        show("carver_2b", **{f"t{n + 1}": mp.log(4) + n * mp.log(3)})
    show("carver_2b t=8.5", y=mp.mpf("1.5") * mp.exp(-(mp.mpf("8.5") - mp.log(4) - 6 * mp.log(3))))


def mao_1():
    show("mao_1 t=3.5", y=mp.exp(mp.mpf("1.75")) / 10)  # on for half of the 35 periods of 0.1


def pendulum(g=mp.mpf("9.81"), l=mp.mpf(1), m=mp.mpf(36), omega0=mp.mpf(1), t=mp.mpf(5)):
    """theta'' = -w^2 sin theta: sin(theta / 2) = k sn(w t + u0, k)."""
    theta0 = 20 * mp.pi / 180
    w = mp.sqrt(3 * g / (2 * l))
    m_ = mp.sin(theta0 / 2) ** 2 + (omega0 / (2 * w)) ** 2  # k^2
    u = w * t + mp.ellipf(mp.asin(mp.sin(theta0 / 2) / mp.sqrt(m_)), m_)
    show("pendulum t=5", angle=2 * mp.asin(mp.sqrt(m_) * mp.ellipfun("sn", u, m=m_)),
         velocity=2 * mp.sqrt(m_) * w * mp.ellipfun("cn", u, m=m_),
         energy=m * l * l / 6 * omega0**2 - m * g * l / 2 * mp.cos(theta0))


bouncing_ball()
ball_drag()
impact_oscillator()
thermostat()
for A, near in (("0.35", (0.9, 2.3, 2.63)), ("0.4", (0.88, 2.42, 2.5)), ("0.403", (0.88, 2.447, 2.471)),
                ("0.41", (0.88,)), ("0.45", (0.87,))):
    bok_1(A, near)
bok_3("1.38", "1.385", "1.386", "1.3862", "1.38629", "1.386293")
carver()
mao_1()
pendulum()
