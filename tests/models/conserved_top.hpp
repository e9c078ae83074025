// The built-in heavy top with Lagrange's integrals declared as invariants, by sparse matrices although they are small.
#include "../../problems/heavy_top.hpp"

struct conserved_top : heavy_top {
  static constexpr bool sparse_elimination = true;
  enum invariant { total, axial, upright };
  static constexpr saltus::conserved<invariant> invariant_list[] = {
      {total, "J", "energy"},
      {axial, "kg m2/s", "angular momentum about the axis of symmetry"},
      {upright, "kg m2/s", "angular momentum about the vertical through the joint"}};
  static void invariants(const auto& at, auto& i) {
    const auto L = rotated(saltus::quaternion_at(at, p0), momentum(at));
    i[total] = 0.5 * at[m] * (at[vx] * at[vx] + at[vy] * at[vy] + at[vz] * at[vz]) +
               0.5 * dot(momentum(at), omega(at)) + at[m] * at[gravity] * at[z];
    i[axial] = at[along] * at[wy];
    i[upright] = L.z + at[m] * (at[x] * at[vy] - at[y] * at[vx]);
  }
};
