import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def final(k1, rtol):
    def f(t, y, args):
        first, second, third = k1 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return jnp.array([second - first, first - second - third, third])

    atol = jnp.array([1e-9, 1e-14, 1e-4]) * rtol
    norm = lambda y: jnp.sqrt(jnp.mean(y**2))  # noqa: E731
    steps = diffrax.PIDController(rtol=rtol, atol=atol, norm=norm)
    return diffrax.diffeqsolve(diffrax.ODETerm(f), diffrax.Kvaerno5(), 0.0, 1e11, 1e-6, jnp.array([1.0, 0.0, 0.0]),
                               stepsize_controller=steps, max_steps=100000).ys[-1, 0]


finals = jax.jit(jax.vmap(final, (0, None)), static_argnums=1)


def study(n, rtol):
    return np.asarray(finals(jnp.linspace(0.02, 0.08, n), rtol))
