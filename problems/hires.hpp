// Growth of a plant under light without photosynthesis: eight reactants around the two forms of phytochrome, red (r) and far-red (fr)
// absorbing. Moderately stiff; the published end time is after the last of three transients.
#include <saltus.hpp>

struct hires {
  static constexpr auto title = "High irradiance responses of photomorphogenesis";
  static constexpr auto source =
      "E. Schaefer, J. Math. Biol. 2 (1975) 41; E. Hairer, G. Wanner, Solving ODEs II, IV.10 (HIRES)";
  static constexpr double span[] = {0.0, 321.8122};

  enum state { Pr, Pfr, PrX, PfrX, PrX1, PfrX1, PfrX1E, enzyme };
  static constexpr saltus::variable<state> state_list[] = {
      {Pr, 1.0, "1", "phytochrome, red absorbing"},
      {Pfr, 0.0, "1", "phytochrome, far-red absorbing"},
      {PrX, 0.0, "1", "Pr bound to receptor X"},
      {PfrX, 0.0, "1", "Pfr bound to receptor X"},
      {PrX1, 0.0, "1", "Pr bound to receptor X'"},
      {PfrX1, 0.0, "1", "Pfr bound to receptor X'"},
      {PfrX1E, 0.0, "1", "Pfr bound to X' and the enzyme"},
      {enzyme, 0.0057, "1", "enzyme"},
  };

  enum parameter { k1, k2, k3, k4, k5, k6, k_plus, k_minus, k_star, source_rate };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {k1, 1.71, "1", "from the red to the far-red form"},
      {k2, 0.43, "1", "from the far-red to the red form; the enzyme is released with it"},
      {k3, 8.32, "1", "Pfr binds to X"},
      {k4, 0.69, "1", "PfrX goes over to X'"},
      {k5, 0.035, "1", "PrX1 goes back to X"},
      {k6, 8.32, "1", "PrX releases Pr"},
      {k_plus, 280.0, "1", "the enzyme binds"},
      {k_minus, 0.69, "1", "the enzyme is released with PfrX1"},
      {k_star, 0.69, "1", "the enzyme is released, PfrX1 falls apart"},
      {source_rate, 0.0007, "1", "Pr is made"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto binding = at[k_plus] * at[PfrX1] * at[enzyme];
    const auto freed = (at[k_minus] + at[k_star] + at[k2]) * at[PfrX1E];
    dy[Pr] = at[source_rate] - at[k1] * at[Pr] + at[k2] * at[Pfr] + at[k6] * at[PrX];
    dy[Pfr] = at[k1] * at[Pr] - (at[k2] + at[k3]) * at[Pfr];
    dy[PrX] = at[k2] * at[PfrX] + at[k5] * at[PrX1] - (at[k1] + at[k6]) * at[PrX];
    dy[PfrX] = at[k3] * at[Pfr] + at[k1] * at[PrX] - (at[k2] + at[k4]) * at[PfrX];
    dy[PrX1] = at[k2] * (at[PfrX1] + at[PfrX1E]) - (at[k1] + at[k5]) * at[PrX1];
    dy[PfrX1] = at[k4] * at[PfrX] + at[k1] * at[PrX1] + at[k_minus] * at[PfrX1E] - at[k2] * at[PfrX1] - binding;
    dy[PfrX1E] = binding - freed;
    dy[enzyme] = freed - binding;
  }
};
