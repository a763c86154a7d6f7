// Traces: what is kept, what is dropped, and the JSON of it.
#include "phi/core/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "phi/core/observer_scope.h"
#include "phi/core/trace/trace_json.h"

namespace phi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string_view> names_in(const Trace& trace) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < trace.size(); ++i) names.emplace_back(trace[i].name);
  return names;
}

std::string json_of(const Trace& trace, const TraceProcess& process = {}) {
  std::string json;
  append_events(trace, process, &json);
  return json;
}

// An event at a known time.
TraceEvent& add_at(Trace& trace, TraceKind kind, const char* name, int64_t start_ns,
                   int64_t duration_ns) {
  TraceEvent& event = *trace.add(kind, name);
  event.start_ns = start_ns;
  event.duration_ns = duration_ns;
  return event;
}

TEST(Trace, ReceivesSpansWhileItIsRegistered) {
  RankContext rank;
  Trace trace;
  { const TraceScope span(rank, TraceKind::kOp, "before"); }
  {
    const ObserverScope scope(trace, rank);
    const TraceScope span(rank, TraceKind::kOp, "within");
    EXPECT_TRUE(span.is_open());
  }
  const TraceScope after(rank, TraceKind::kOp, "after");
  EXPECT_FALSE(after.is_open());
  EXPECT_THAT(names_in(trace), ElementsAre("within"));
}

TEST(Trace, ScopesNestInTimeAndComeInTheOrderOfTheirStarts) {
  RankContext rank;
  Trace trace;
  const ObserverScope observed(trace, rank);
  {
    const TraceScope outer(rank, TraceKind::kAction, "F0");
    const TraceScope inner(rank, TraceKind::kOp, "matmul");
    EXPECT_EQ(trace[1].duration_ns, TraceEvent::kUnfinished);
  }
  ASSERT_THAT(names_in(trace), ElementsAre("F0", "matmul"));
  const TraceEvent& outer = trace[0];
  const TraceEvent& inner = trace[1];
  EXPECT_GE(inner.duration_ns, 0);
  EXPECT_LE(outer.start_ns, inner.start_ns);
  EXPECT_GE(outer.start_ns + outer.duration_ns, inner.start_ns + inner.duration_ns);
}

// A trace at its limit leaves the span to the others.
TEST(Trace, SeveralReceiveASpanWithTextsOfTheirOwn) {
  RankContext rank;
  Trace first;
  Trace full(/*limit=*/0);
  const ObserverScope outer(first, rank);
  const ObserverScope middle(full, rank);
  {
    Trace second;
    const ObserverScope inner(second, rank);
    const TraceScope span(rank, TraceKind::kOp, "add");
    span.fill([](Trace& trace, TraceEvent& event) { event.detail = trace.text("f32[2]"); });
    EXPECT_STREQ(second[0].detail, "f32[2]");
    EXPECT_NE(second[0].detail, first[0].detail);
  }
  EXPECT_STREQ(first[0].detail, "f32[2]");
  EXPECT_GE(first[0].duration_ns, 0);
  EXPECT_EQ(full.dropped(), 1u);
}

TEST(Trace, EventsSayWhatTheRankWorksOn) {
  RankContext rank;
  const RankContext::Scope current(rank);
  Trace trace;
  rank.set_work({3, -1, -1});
  {
    const RankWorkScope work(rank, 5, 1);
    trace.add(TraceKind::kOp, "inside");
  }
  trace.add(TraceKind::kOp, "after");
  EXPECT_EQ(trace[0].work.step, 3);
  EXPECT_EQ(trace[0].work.micro_batch, 5);
  EXPECT_EQ(trace[0].work.chunk, 1);
  EXPECT_EQ(trace[1].work.step, 3);
  EXPECT_EQ(trace[1].work.micro_batch, -1);
  EXPECT_EQ(trace[1].work.chunk, -1);
}

TEST(Trace, BeyondItsLimitEventsAreOnlyCounted) {
  RankContext rank;
  Trace trace(/*limit=*/2);
  const ObserverScope observed(trace, rank);
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const TraceScope scope(rank, TraceKind::kOp, name);
    EXPECT_EQ(scope.is_open(), trace.dropped() == 0);
  }
  EXPECT_THAT(names_in(trace), ElementsAre("a", "b"));
  EXPECT_EQ(trace.dropped(), 3u);
}

TEST(Trace, EventsStayWhereTheyAre) {
  Trace trace;
  const TraceEvent* first = trace.add(TraceKind::kOp, "first");
  for (int i = 0; i < 10'000; ++i) trace.add(TraceKind::kOp, "more");
  EXPECT_EQ(first, &trace[0]);
  EXPECT_STREQ(trace[10'000].name, "more");
}

TEST(Trace, ATextIsMadeOncePerKey) {
  Trace trace;
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::string("f32[8,8]");
  };
  const std::string_view key("\0\1\0", 3), other("\0\1\1", 3);
  const char* text = trace.text(key, make);
  for (int i = 0; i < 1000; ++i) trace.text("text " + std::to_string(i));
  EXPECT_EQ(trace.text(key, make), text);
  EXPECT_EQ(made, 1);
  EXPECT_NE(trace.text(other, make), text);
  EXPECT_EQ(made, 2);
  EXPECT_STREQ(text, "f32[8,8]");
}

TEST(TraceJson, AnEventIsALineWithItsLaneAndWhatIsKnownOfIt) {
  RankContext rank;
  const RankContext::Scope current(rank);
  Trace trace;
  rank.set_work({1, 2, 0});
  add_at(trace, TraceKind::kOp, "add", 5'000'250, 1'500).detail = "f32[2] -> f32[2]";
  EXPECT_EQ(json_of(trace, {3, "", -5'000'000}),
            R"({"ph":"X","cat":"op","name":"add","pid":3,"tid":2,"ts":0.250,"dur":1.500,)"
            R"("args":{"shapes":"f32[2] -> f32[2]","step":1,"micro_batch":2,"chunk":0}},)"
            "\n");
}

TEST(TraceJson, EveryKindHasItsPhases) {
  struct Row {
    TraceKind kind;
    const char* expected;
  };
  const Row rows[] = {
      {TraceKind::kStep, R"("ph":"X","cat":"step","name":"x","pid":0,"tid":1)"},
      {TraceKind::kAction, R"("ph":"X","cat":"action","name":"x","pid":0,"tid":1)"},
      {TraceKind::kClippedAction, R"("ph":"X","cat":"clipped_action","name":"x","pid":0,"tid":4)"},
      {TraceKind::kClipped, R"("ph":"i","cat":"clipped","name":"x","pid":0,"tid":4)"},
      {TraceKind::kReshard, R"("ph":"X","cat":"reshard","name":"x","pid":0,"tid":3)"},
      {TraceKind::kCall, R"("ph":"X","cat":"comm","name":"x","pid":0,"tid":3)"},
      {TraceKind::kSend, R"("ph":"s","cat":"message","name":"x")"},
      {TraceKind::kReceive, R"("ph":"f","cat":"message","name":"x")"},
      {TraceKind::kSend, R"("ts":1.000,"id":"00000000000000ab","args")"},
      {TraceKind::kReceive, R"("ts":1.000,"id":"00000000000000ab","bp":"e","args")"},
      {TraceKind::kInFlight, R"("ph":"e","cat":"in_flight","name":"x","pid":0,"tid":3,"ts":3.000)"},
  };
  for (const Row& row : rows) {
    Trace trace;
    add_at(trace, row.kind, "x", 1000, 2000).id = 0xab;
    EXPECT_THAT(json_of(trace), HasSubstr(row.expected)) << name_of(row.kind);
  }
}

TEST(TraceJson, WhatDidNotEndHasNoEnd) {
  Trace trace;
  trace.add(TraceKind::kCall, "all_reduce");
  EXPECT_THAT(json_of(trace), HasSubstr(R"({"ph":"B","cat":"comm","name":"all_reduce")"));
  EXPECT_THAT(json_of(trace), Not(HasSubstr("dur")));
}

TEST(TraceJson, ACallSaysItsGroupNumberAndBytes) {
  Trace trace;
  TraceEvent& call = add_at(trace, TraceKind::kCall, "send", 0, 0);
  call.detail = "{0,1}";
  call.caller = "matmul";
  call.sequence = 7;
  call.peer = 1;
  call.bytes_sent = 64;
  call.bytes_received = 0;
  EXPECT_THAT(json_of(trace),
              HasSubstr(R"("args":{"group":"{0,1}","sequence":7,"peer":1,"bytes_sent":64,)"
                        R"("bytes_received":0,"caller":"matmul"}})"));
}

TEST(TraceJson, TimesBeforeTheBeginningAreNegative) {
  Trace trace;
  add_at(trace, TraceKind::kOp, "x", 1'000, 0);
  EXPECT_THAT(json_of(trace, {0, "", -3'500}), HasSubstr(R"("ts":-2.500,)"));
}

TEST(TraceJson, TextsAreEscaped) {
  EXPECT_EQ(json_string("plain · µs"), "\"plain · µs\"");
  EXPECT_EQ(json_string("a\"b\\c\nd"), R"("a\"b\\c\u000ad")");
}

TEST(TraceJson, AProcessNamesItselfAndItsLanes) {
  std::string json;
  append_process({3, "rank 3 · stage 1", 0}, &json);
  EXPECT_THAT(json, HasSubstr(R"("name":"process_name","pid":3,"tid":0,)"
                              R"("args":{"name":"rank 3 · stage 1"})"));
  EXPECT_THAT(json, HasSubstr(R"("name":"process_sort_index","pid":3,"tid":0,)"
                              R"("args":{"sort_index":3})"));
  for (const char* lane : {"actions", "ops", "communication", "clipped"}) {
    EXPECT_THAT(json, HasSubstr(R"({"name":")" + std::string(lane) + R"("})"));
  }
}

TEST(TraceJson, TheListEndsWithoutAComma) {
  std::string json = "[\n{},\n";
  end_events(&json);
  EXPECT_EQ(json, "[\n{}\n");
  json = "[\n";
  end_events(&json);
  EXPECT_EQ(json, "[\n");
}

}  // namespace
}  // namespace phi
