import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optimistix

jax.config.update("jax_enable_x64", True)


def height(e, rtol):
    term = diffrax.ODETerm(lambda t, y, args: jnp.array([y[1], -9.81]))
    event = diffrax.Event(lambda t, y, args, **_: y[0], optimistix.Newton(1e-13, 1e-13), direction=False)
    steps = diffrax.PIDController(rtol=rtol, atol=rtol)
    t, y = 0.0, jnp.array([1.0, 0.0])
    for _ in range(5):  # the largest number of impacts, and the remaining flight
        s = diffrax.diffeqsolve(term, diffrax.Dopri5(), t, 2.0, 0.01, y, stepsize_controller=steps, event=event,
                                adjoint=diffrax.ForwardMode())
        hit, t, y = s.event_mask, s.ts[-1], s.ys[-1]
        y = jnp.where(hit, jnp.array([0.0, -e * y[1]]), y)
    return y[0]


slope = jax.jit(jax.vmap(jax.jacfwd(height), (0, None)), static_argnums=1)


def study(n, rtol):
    return np.asarray(slope(jnp.linspace(0.7, 0.9, n), rtol))
