# Twenty neurons in a ring. A spike reaches the next neuron after a delay that is longer than the time between two spikes, so several are on their way at once. The times of all spikes are those of a queue of events between exact exponentials.
from heapq import heappop, heappush

import matplotlib.pyplot as plt
import numpy as np

import saltus

n, drive, weight, delay = 20, 1.3, -0.15, 4.0
start = 0.9 * np.random.default_rng(1).random(n)
ring = saltus.Symbolic("ring", span=(0, 30))
v = [ring.state(f"v{i}", start[i]) for i in range(n)]
spikes = [ring.guard(f"spike{i}", v[i] - 1, "rising") for i in range(n)]
arrivals = [ring.scheduled(f"arrival{i}") for i in range(n)]
for i in range(n):
    ring.equation(v[i], drive - v[i])
    ring.on(spikes[i], {v[i]: 0}, after={arrivals[(i + 1) % n]: delay})
    ring.on(arrivals[i], {v[i]: v[i] + weight})
ds = ring.model().run(events=True, rtol=1e-11)
of = lambda i: ds.saltus.section(f"spike{i}")["time"].values
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.eventplot([of(i) for i in range(n)])
ax.set(xlabel="time", ylabel="neuron")
fig.savefig("neurons.png")

value, since, times, queue = start.copy(), np.zeros(n), [[] for _ in range(n)], []
while True:
    ahead = since + np.log((drive - value) / (drive - 1))
    i = int(ahead.argmin())
    t, i, fires = min((ahead[i], i, True), (queue[0] if queue else (np.inf, 0)) + (False,))
    if t > 30:
        break
    value[i] = 0.0 if fires else drive + (value[i] - drive) * np.exp(since[i] - t) + weight
    since[i] = t
    if fires:
        times[i].append(t)
        heappush(queue, (t + delay, (i + 1) % n))
    else:
        heappop(queue)
print(sum(map(len, times)), max(float(abs(of(i) - times[i]).max()) for i in range(n)))
