// LinkTraffic: transfers over links, and when they end. Transfers that are under way on a link at
// the same time have equal parts of it; one alone has the whole link, or as much as one may have.
// Computations on cores that ranks share are transfers too, of seconds.
//
//   const std::vector<LinkTraffic::Link> links = {{.bytes_per_second = 25e9}};
//   LinkTraffic traffic(links);
//   const size_t id = traffic.add({.begin = 0.5, .legs = {{0, 1e6}}});
//   const auto ended = traffic.next();                                 // {{id, 0.50004}}
//
// A link counts the bytes that each transfer under way has had since it was idle: a transfer ends
// at a count that is known when it begins (Parekh and Gallager 1993, "A generalized processor
// sharing approach to flow control"). Equal transfers that begin together therefore end together,
// to the last bit, whether they are added one by one or as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

namespace phi::distributed::simulator {

class LinkTraffic {
 public:
  struct Leg {
    size_t link = 0;
    double bytes = 0;
    int64_t count = 1;  // transfers that do the same on this link, this one included
  };
  struct Transfer {
    double begin = 0;
    std::vector<Leg> legs{};
    bool at_once = false;  // legs proceed at the same time; otherwise one after the other
  };
  struct Ended {
    size_t id = 0;
    double time = 0;
  };

  struct Link {
    double bytes_per_second = 0;
    double most_of_one = std::numeric_limits<double>::infinity();  // bytes per second of a transfer
  };

  explicit LinkTraffic(const std::vector<Link>& links);

  /// Returns an id, which is used again after the transfer has ended. It may not begin before the
  /// last time that next() has returned.
  size_t add(Transfer transfer);

  /// Advances to the next time at which transfers end, and returns all that end then. Empty: none
  /// are under way.
  std::vector<Ended> next();

 private:
  // A transfer on a link.
  struct User {
    double end = 0;  // of SharedLink::had, at which it ends
    size_t id = 0;
    int64_t count = 1;

    friend bool operator>(const User& a, const User& b) {
      return std::tie(a.end, a.id) > std::tie(b.end, b.id);
    }
  };
  struct SharedLink {
    Link limits;
    double had = 0;   // bytes of each transfer under way, since the link was idle
    double time = 0;  // of `had`
    int64_t users = 0;
    std::priority_queue<User, std::vector<User>, std::greater<>> by_end{};
    uint64_t changes = 0;  // an event of a link that has changed since is void

    double seconds_of(double bytes) const;  // of each transfer under way
    double bytes_in(double seconds) const;
  };
  struct State {
    Transfer transfer;
    size_t done = 0;  // legs
  };
  // The begin of the next leg of a transfer, or the next end on a link.
  struct Event {
    double time = 0;
    bool is_begin = false;
    size_t index = 0;      // of the transfer or the link
    uint64_t changes = 0;  // SharedLink::changes

    // Of one time, ends come first: what begins is not slowed by what has ended.
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.time, a.is_begin, a.index, a.changes) >
             std::tie(b.time, b.is_begin, b.index, b.changes);
    }
  };

  void begin(const Event& event, std::vector<Ended>* ended);
  void end(const Event& event, std::vector<Ended>* ended);
  void begin_leg(const Leg& leg, size_t id, double now);
  void end_leg(size_t id, double now, std::vector<Ended>* ended);
  void expect_end(size_t index);

  std::vector<SharedLink> links_;
  std::vector<State> transfers_;  // by id
  std::vector<size_t> free_;      // ids of transfers that have ended
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace phi::distributed::simulator
