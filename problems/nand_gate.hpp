// A NAND gate in n-channel technology (parts/nand_gate.hpp): Kirchhoff's law at each of 14 nodes, C(u) u' = f(t, u), with capacitors that
// depend on voltages.
#include "parts/nand_gate.hpp"

struct nand_gate : nand_gate_circuit {
  static constexpr auto title = "NAND gate";
  static constexpr bool mass_varies = true;

  static void rhs(const auto& at, auto& du) { currents(at, du); }

  static void mass(const auto& at, auto& m) {
    const auto to_ground = [&](state a, const auto& c) { m(a, a) = m(a, a) + c; };
    const auto between = [&](state a, state b, const auto& c) {
      to_ground(a, c), to_ground(b, c);
      m(a, b) = m(b, a) = -c;
    };
    each_capacity(at, between, to_ground);
  }
};
