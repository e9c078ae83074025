// The NAND gate of nand_gate.hpp as a residual: the currents at its nodes.
#include "parts/nand_gate.hpp"

struct nand_gate_any_order : nand_gate_circuit {
  static constexpr auto title = "NAND gate as a residual";

  static void residual(const auto& at, auto& r) {
    currents(at, r);
    const auto to_ground = [&](state a, const auto& c) { r[a] -= c * at.d(a, 1); };
    const auto between = [&](state a, state b, const auto& c) {
      const auto current = c * (at.d(a, 1) - at.d(b, 1));
      r[a] -= current;
      r[b] += current;
    };
    each_capacity(at, between, to_ground);
  }
};
