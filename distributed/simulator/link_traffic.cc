// Events in the order of their times: begins of transfers, and ends on links.
#include "distributed/simulator/link_traffic.h"

#include <algorithm>
#include <utility>

namespace phi::distributed::simulator {

LinkTraffic::LinkTraffic(const std::vector<Link>& links) {
  for (const Link& link : links) links_.push_back({.limits = link});
}

double LinkTraffic::SharedLink::seconds_of(double bytes) const {
  return std::max(bytes * static_cast<double>(users) / limits.bytes_per_second,
                  bytes / limits.most_of_one);
}

double LinkTraffic::SharedLink::bytes_in(double seconds) const {
  return std::min(seconds * limits.bytes_per_second / static_cast<double>(users),
                  seconds * limits.most_of_one);
}

size_t LinkTraffic::add(Transfer transfer) {
  size_t id = transfers_.size();
  if (free_.empty()) {
    transfers_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  events_.push({.time = transfer.begin, .is_begin = true, .index = id});
  transfers_[id] = {std::move(transfer)};
  return id;
}

std::vector<LinkTraffic::Ended> LinkTraffic::next() {
  std::vector<Ended> ended;
  while (ended.empty() && !events_.empty()) {
    const Event first = events_.top();
    while (!events_.empty() && events_.top().time == first.time &&
           events_.top().is_begin == first.is_begin) {
      const Event event = events_.top();
      events_.pop();
      event.is_begin ? begin(event, &ended) : end(event, &ended);
    }
  }
  for (const Ended& each : ended) free_.push_back(each.id);
  return ended;
}

void LinkTraffic::begin(const Event& event, std::vector<Ended>* ended) {
  const State& state = transfers_[event.index];
  const std::vector<Leg>& legs = state.transfer.legs;
  if (legs.empty()) return ended->push_back({event.index, event.time});
  if (!state.transfer.at_once) return begin_leg(legs[state.done], event.index, event.time);
  for (const Leg& leg : legs) begin_leg(leg, event.index, event.time);
}

void LinkTraffic::begin_leg(const Leg& leg, size_t id, double now) {
  SharedLink& link = links_[leg.link];
  if (link.users > 0 && now > link.time) link.had += link.bytes_in(now - link.time);
  link.time = now;
  link.users += leg.count;
  link.by_end.push({link.had + leg.bytes, id, leg.count});
  expect_end(leg.link);
}

void LinkTraffic::end(const Event& event, std::vector<Ended>* ended) {
  SharedLink& link = links_[event.index];
  if (event.changes != link.changes) return;
  link.had = link.by_end.top().end;
  link.time = event.time;
  while (!link.by_end.empty() && link.by_end.top().end == link.had) {
    const User user = link.by_end.top();
    link.by_end.pop();
    link.users -= user.count;
    end_leg(user.id, event.time, ended);
  }
  if (link.users == 0) link.had = 0;
  expect_end(event.index);
}

void LinkTraffic::end_leg(size_t id, double now, std::vector<Ended>* ended) {
  State& state = transfers_[id];
  if (++state.done == state.transfer.legs.size()) return ended->push_back({id, now});
  if (!state.transfer.at_once) events_.push({.time = now, .is_begin = true, .index = id});
}

void LinkTraffic::expect_end(size_t index) {
  SharedLink& link = links_[index];
  ++link.changes;
  if (link.by_end.empty()) return;
  const double bytes = std::max(0.0, link.by_end.top().end - link.had);
  events_.push(
      {.time = link.time + link.seconds_of(bytes), .index = index, .changes = link.changes});
}

}  // namespace phi::distributed::simulator
