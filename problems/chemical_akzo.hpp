// Two species, FLB and ZHU, react in a tank into which carbon dioxide flows. Their compound FLB.ZHU is always in equilibrium with them: an
// algebraic state.
#include <saltus.hpp>

struct chemical_akzo {
  static constexpr auto title = "Chemical Akzo Nobel problem";
  static constexpr auto source =
      "CWI and Bari test set for initial value problem solvers: chemical Akzo Nobel, DAE of index 1";
  static constexpr double span[] = {0.0, 180.0};

  enum state { FLB, CO2, FLBT, ZHU, ZLA, FLB_ZHU };
  static constexpr saltus::variable<state> state_list[] = {
      {FLB, 0.444, "mol/l", "FLB"},
      {CO2, 0.00123, "mol/l", "carbon dioxide, dissolved"},
      {FLBT, 0.0, "mol/l", "FLBT"},
      {ZHU, 0.007, "mol/l", "ZHU"},
      {ZLA, 0.0, "mol/l", "ZLA"},
      saltus::variable<state>{FLB_ZHU, 0.36, "mol/l", "FLB.ZHU, in equilibrium with both"}.algebraic(),
  };

  enum parameter { k1, k2, k3, k4, K, klA, Ks, pCO2, H };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {k1, 18.7, "1", "4 FLB + CO2 -> 2 FLBT, and water"},
      {k2, 0.58, "l/(mol min)", "FLBT + ZHU -> ZLA + FLB"},
      {k3, 0.09, "1", "FLB + 2 ZHU + CO2 -> LB, and nitrate"},
      {k4, 0.42, "1", "2 FLB.ZHU + CO2 -> 2 ZLA, and water"},
      {K, 34.4, "1", "equilibrium of the second reaction"},
      {klA, 3.3, "1/min", "mass transfer of carbon dioxide"},
      {Ks, 115.83, "l/mol", "equilibrium FLB + ZHU <-> FLB.ZHU"},
      {pCO2, 0.9, "bar", "partial pressure of carbon dioxide above the liquid"},
      {H, 737.0, "bar l/mol", "Henry's constant"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto root = sqrt(at[CO2]);
    const auto square = at[FLB] * at[FLB];
    const auto r1 = at[k1] * square * square * root;
    const auto r2 = at[k2] * at[FLBT] * at[ZHU];
    const auto r3 = at[k2] / at[K] * at[FLB] * at[ZLA];
    const auto r4 = at[k3] * at[FLB] * at[ZHU] * at[ZHU];
    const auto r5 = at[k4] * at[FLB_ZHU] * at[FLB_ZHU] * root;
    const auto inflow = at[klA] * (at[pCO2] / at[H] - at[CO2]);

    dy[FLB] = r2 - 2.0 * r1 - r3 - r4;
    dy[CO2] = inflow - 0.5 * r1 - r4 - 0.5 * r5;
    dy[FLBT] = r1 - r2 + r3;
    dy[ZHU] = r3 - r2 - 2.0 * r4;
    dy[ZLA] = r2 - r3 + r5;
    dy[FLB_ZHU] = at[Ks] * at[FLB] * at[ZHU] - at[FLB_ZHU];
  }
};
