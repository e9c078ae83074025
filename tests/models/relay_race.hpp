// A start schedules items at once and by its transitions; a ledger of discrete variables says what came, when and in which order.
#include <saltus.hpp>

struct relay_race {
  static constexpr auto title = "Items scheduled by transitions";
  static constexpr double span[] = {0.0, 10.0};

  enum state { level };
  static constexpr saltus::variable<state> state_list[] = {
      {level, 0.0, "1", "grows at rate 1, and jumps by what comes"}};

  enum parameter { delay, again, jump, first, period };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {delay, 2.5, "s", "time between a tick and its item"},
      {again, 1e30, "s", "time between an item and one that it schedules"},
      {jump, 1.0, "1", "carried by an item"},
      {first, 1e30, "s", "delay of the item that the start schedules"},
      {period, 1.0, "s", "time between ticks"},
  };

  enum discrete { came, order, last, same };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {came, 0.0, "1", "number of items that have come"},
      {order, 0.0, "1", "their numbers as digits, to base 10"},
      {last, 0.0, "s", "time of the last item"},
      {same, 0.0, "1", "most items in one transition"},
  };

  enum time_event { tick, item };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {tick, "schedules an item"},
      saltus::timed<time_event>{item, "comes after a delay"}.scheduled(6).carrying(2),
  };

  static void initial(auto& at) { at.after(item, at[first], at[jump], 9.0); }

  static void rhs(const auto&, auto& dy) { dy[level] = 1.0; }

  static void time_events(const auto& at, auto& when) { when.every(tick, at[period], at[period]); }

  static void transition(auto& now) {
    if (now.due(tick)) now.after(item, now[delay], now[jump], now.t);
    auto together = 0.0 * now[came];
    now.each_due(item, [&](const auto& carried) {
      now[came] += 1.0;
      together += 1.0;
      now[order] = 10.0 * now[order] + carried[1];
      now[last] = now.t;
      now[level] += carried[0];
      now.after(item, now[again], carried[0], carried[1] + 1.0);
    });
    if (together > now[same]) now[same] = together;
  }
};
