// The mechanical system of selecting_mechanical.hpp with its rod only.
#include "selecting_mechanical.hpp"

struct selecting_rod_bodies : selecting_mechanical {
  static constexpr auto title = "Chosen branches, a rod alone";
  enum constraint { rod };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {rod, saltus::holonomic, "m2", "to the origin"}};
  static void constraints(const auto& at, auto& k) { k[rod] = at[x] * at[x] + at[y] * at[y] - 1.0; }
};
