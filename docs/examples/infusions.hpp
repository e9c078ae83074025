// Infusions into the blood at a rate that is given as a table, in steps; two compartments.
//
//     central' = rate - (k_e + k_12) central + k_21 tissue,   tissue' = k_12 central - k_21 tissue
#include <saltus.hpp>

struct infusions {
  static constexpr auto title = "Infusions by a record, two compartments";
  static constexpr auto source = "M. Gibaldi, D. Perrier, Pharmacokinetics, 2nd ed., Dekker 1982, chapter 2";
  static constexpr double span[] = {0.0, 720.0};

  enum table { rate };
  static constexpr saltus::tabulated<table> table_list[] = {
      {rate, "mg/h", "what flows in, from each time of the record to the next", saltus::interpolation::step},
  };

  enum state { central, tissue };
  static constexpr saltus::variable<state> state_list[] = {
      {central, 0.0, "mg", "medicine in the blood"},
      {tissue, 0.0, "mg", "medicine in the tissue"},
  };

  enum parameter { elimination, volume, k_12, k_21 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {elimination, 0.15, "1/h", "rate of elimination k_e"},
      {volume, 40.0, "L", "volume of the central compartment"},
      {k_12, 0.3, "1/h", "from the blood to the tissue"},
      {k_21, 0.2, "1/h", "and back"},
  };

  enum output { concentration };
  static constexpr saltus::derived<output> output_list[] = {{concentration, "mg/L", "concentration in the blood"}};

  static void rhs(const auto& at, auto& dy) {
    const auto out = at[k_12] * at[central], back = at[k_21] * at[tissue];
    dy[central] = at[rate] - at[elimination] * at[central] - out + back;
    dy[tissue] = out - back;
  }

  static void outputs(const auto& at, auto& out) { out[concentration] = at[central] / at[volume]; }
};
