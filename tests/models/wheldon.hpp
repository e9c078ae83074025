// Wheldon's model of chronic granulocytic leukaemia: problem A2 of the test set of Enright and Hayashi.
#include <saltus.hpp>

struct wheldon {
  static constexpr auto title = "Chronic granulocytic leukaemia";
  static constexpr auto source =
      "T. E. Wheldon, J. Kirk, H. M. Finlay, Blood 43 (1974) 379; problem A2 of W. H. Enright, H. Hayashi (1997)";
  static constexpr double span[] = {0.0, 100.0};

  enum state { marrow, blood };
  static constexpr saltus::variable<state> state_list[] = {{marrow, 1.05767027 / 3.0, "1", "cells in the marrow"},
                                                           {blood, 1.030713491 / 3.0, "1", "cells in the blood"}};
  enum parameter { ripening };
  static constexpr saltus::variable<parameter> parameter_list[] = {{ripening, 20.0, "d", "time in which cells ripen"}};
  enum delay { ripen };
  static constexpr saltus::lag<delay> delay_list[] = {{ripen, "cells ripen"}};

  static void delays(const auto& at, auto& lag) { lag[ripen] = at[ripening]; }
  static void rhs(const auto& at, auto& dy) {
    const auto released = 10.0 * at[marrow] / (1.0 + 40.0 * at[blood]);
    dy[marrow] = 1.1 / (1.0 + sqrt(10.0) * pow(at.delayed(marrow, ripen), 1.25)) - released;
    dy[blood] = 10.0 * released - 2.43 * at[blood];
  }
};
