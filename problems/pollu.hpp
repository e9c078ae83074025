// Air pollution: 25 reactions among 20 species, with rate constants from 1e-4 to 4e11. Concentrations are between 0.3 and 1e-17: choose
// `atol` for each state, or one small enough for all.
#include <saltus.hpp>

struct pollu {
  static constexpr auto title = "Air pollution with 25 reactions of 20 species";
  static constexpr auto source = "J. G. Verwer, SIAM J. Sci. Comput. 15 (1994) 1243 (POLLU)";
  static constexpr double span[] = {0.0, 60.0};

  enum state { NO2, NO, O3P, O3, HO2, OH, HCHO, CO, ALD, MEO2, C2O3, CO2, PAN, CH3O, HNO3, O1D, SO2, SO4, NO3, N2O5 };
  static constexpr saltus::variable<state> state_list[] = {
      {NO2, 0.0, "ppm", "nitrogen dioxide"},
      {NO, 0.2, "ppm", "nitrogen monoxide"},
      {O3P, 0.0, "ppm", "atomic oxygen, ground state"},
      {O3, 0.04, "ppm", "ozone"},
      {HO2, 0.0, "ppm", "hydroperoxyl"},
      {OH, 0.0, "ppm", "hydroxyl"},
      {HCHO, 0.1, "ppm", "formaldehyde"},
      {CO, 0.3, "ppm", "carbon monoxide"},
      {ALD, 0.01, "ppm", "aldehydes"},
      {MEO2, 0.0, "ppm", "methylperoxyl"},
      {C2O3, 0.0, "ppm", "peroxyacetyl"},
      {CO2, 0.0, "ppm", "carbon dioxide that is formed"},
      {PAN, 0.0, "ppm", "peroxyacetyl nitrate"},
      {CH3O, 0.0, "ppm", "methoxyl"},
      {HNO3, 0.0, "ppm", "nitric acid"},
      {O1D, 0.0, "ppm", "atomic oxygen, excited"},
      {SO2, 0.007, "ppm", "sulphur dioxide"},
      {SO4, 0.0, "ppm", "sulphate"},
      {NO3, 0.0, "ppm", "nitrogen trioxide"},
      {N2O5, 0.0, "ppm", "dinitrogen pentoxide"},
  };

  enum parameter { k1 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {k1, 0.35, "1/min", "photolysis of NO2: how strong the light is"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto r1 = at[k1] * at[NO2];
    const auto r2 = 26.6 * at[NO] * at[O3];
    const auto r3 = 1.23e4 * at[HO2] * at[NO];
    const auto r4 = 8.6e-4 * at[HCHO];
    const auto r5 = 8.2e-4 * at[HCHO];
    const auto r6 = 1.5e4 * at[HCHO] * at[OH];
    const auto r7 = 1.3e-4 * at[ALD];
    const auto r8 = 2.4e4 * at[ALD] * at[OH];
    const auto r9 = 1.65e4 * at[C2O3] * at[NO];
    const auto r10 = 9.0e3 * at[C2O3] * at[NO2];
    const auto r11 = 2.2e-2 * at[PAN];
    const auto r12 = 1.2e4 * at[MEO2] * at[NO];
    const auto r13 = 1.88 * at[CH3O];
    const auto r14 = 1.63e4 * at[NO2] * at[OH];
    const auto r15 = 4.8e6 * at[O3P];
    const auto r16 = 3.5e-4 * at[O3];
    const auto r17 = 1.75e-2 * at[O3];
    const auto r18 = 1.0e8 * at[O1D];
    const auto r19 = 4.44e11 * at[O1D];
    const auto r20 = 1.24e3 * at[SO2] * at[OH];
    const auto r21 = 2.1 * at[NO3];
    const auto r22 = 5.78 * at[NO3];
    const auto r23 = 4.74e-2 * at[NO2] * at[O3];
    const auto r24 = 1.78e3 * at[NO3] * at[NO2];
    const auto r25 = 3.12 * at[N2O5];

    dy[NO2] = r2 + r3 + r9 + r11 + r12 + r22 + r25 - (r1 + r10 + r14 + r23 + r24);
    dy[NO] = r1 + r21 - (r2 + r3 + r9 + r12);
    dy[O3P] = r1 + r17 + r19 + r22 - r15;
    dy[O3] = r15 - (r2 + r16 + r17 + r23);
    dy[HO2] = 2.0 * r4 + r6 + r7 + r13 + r20 - r3;
    dy[OH] = r3 + 2.0 * r18 - (r6 + r8 + r14 + r20);
    dy[HCHO] = r13 - (r4 + r5 + r6);
    dy[CO] = r4 + r5 + r6 + r7;
    dy[ALD] = -(r7 + r8);
    dy[MEO2] = r7 + r9 - r12;
    dy[C2O3] = r8 + r11 - (r9 + r10);
    dy[CO2] = r9;
    dy[PAN] = r10 - r11;
    dy[CH3O] = r12 - r13;
    dy[HNO3] = r14;
    dy[O1D] = r16 - (r18 + r19);
    dy[SO2] = -r20;
    dy[SO4] = r20;
    dy[NO3] = r23 + r25 - (r21 + r22 + r24);
    dy[N2O5] = r24 - r25;
  }
};
