// Two-phase commit searched by a program written for it alone, with the duties of statewalk's search:
//
//   - breadth first by levels; each level is put in the order of its fingerprints before it is
//     expanded, so that every state's link is its least predecessor's
//   - a row of one cell for each variable is kept for the states of the frontier
//   - a fingerprint of 64 bits, computed from the values, is kept of every state seen, in a table with
//     open addressing; and a link of 8 bytes: the parent's position in its level, and the step
//   - the invariant and the deadlock are looked at in every state; steps are counted by action
//   - the trace to a violation goes back over the links
//
// What it does not do: know the protocol from a text, save checkpoints, report.
//
//   g++ -O3 -march=native -DRMS=9 search.cpp -o search && ./search

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifndef RMS
#define RMS 7
#endif
#ifndef CELL
#define CELL uint8_t
#endif

// A row: what each manager does, what each has sent, whom the coordinator heard, and the coordinator.
enum { RM = 0, SENT = RMS, HEARD = 2 * RMS, TM = 3 * RMS, COMMIT, ABORT, WIDTH };
enum { WORKING, PREPARED, COMMITTED, ABORTED };  // a manager; the coordinator begins at 0 (INIT)
enum { PREPARE, CHOOSE, RECEIVE_COMMIT, RECEIVE_ABORT, HEAR, TM_COMMIT, TM_ABORT, ACTIONS };
const int INIT = WORKING;

struct Row { CELL at[(WIDTH + 1) / 2 * 2]; };
struct State { Row row; uint64_t fp, link; };
struct Candidate { uint64_t fp, link; };  // link: position << 16 | action << 8 | manager

static uint64_t contribution[WIDTH][4];  // what each value of each variable adds to a fingerprint

static void prepare_fingerprints() {
  uint64_t seed = 0;
  for (auto& values : contribution)
    for (auto& value : values) {  // splitmix64, Steele et al., OOPSLA 2014
      uint64_t z = (seed += 0x9E3779B97F4A7C15);
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
      value = z ^ (z >> 31);
    }
}

// What a step writes: up to two variables; called for the fingerprint and again for the row.
template <class Write> static void step(int action, int rm, Write write) {
  switch (action) {
    case PREPARE: write(RM + rm, PREPARED); write(SENT + rm, 1); break;
    case CHOOSE: case RECEIVE_ABORT: write(RM + rm, ABORTED); break;
    case RECEIVE_COMMIT: write(RM + rm, COMMITTED); break;
    case HEAR: write(HEARD + rm, 1); break;
    case TM_COMMIT: write(TM, COMMITTED); write(COMMIT, 1); break;
    case TM_ABORT: write(TM, ABORTED); write(ABORT, 1); break;
  }
}

static bool consistent(const Row& row) {
  bool committed = false, aborted = false;
  for (int rm = 0; rm < RMS; rm++) {
    committed |= row.at[RM + rm] == COMMITTED;
    aborted |= row.at[RM + rm] == ABORTED;
  }
  return !(committed && aborted);
}

static bool terminal(const Row& row) {
  for (int rm = 0; rm < RMS; rm++)
    if (row.at[RM + rm] < COMMITTED) return false;
  return true;
}

// Memory straight from the system, which is zero and costs nothing until it is touched.
static uint64_t* cells(size_t n) {
  void* at = mmap(nullptr, n * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) { perror("mmap"); exit(2); }
  return (uint64_t*)at;
}

// The states whose fingerprints begin with the same bits: those seen, and the new ones.
struct Part {
  uint64_t mask = 255, entries = 0, *table = cells(256);
  std::vector<State> fresh;

  bool enter(uint64_t fp) {
    if (entries * 10 > mask * 7) grow();
    uint64_t at = fp & mask;
    for (; table[at]; at = (at + 1) & mask)
      if (table[at] == fp) return false;
    table[at] = fp;
    entries++;
    return true;
  }

  void grow() {
    uint64_t old = mask + 1, *from = table;
    mask = 2 * old - 1;
    table = cells(2 * old);
    for (uint64_t i = 0; i < old; i++)
      if (from[i]) {
        uint64_t at = from[i] & mask;
        while (table[at]) at = (at + 1) & mask;
        table[at] = from[i];
      }
    munmap(from, old * 8);
  }
};

const int PART_BITS = 3, PARTS = 1 << PART_BITS, BATCH = 1 << 16, AHEAD = 24;
static Part parts[PARTS];
static std::vector<Candidate> candidates[PARTS];
static std::vector<Row> rows;        // of the level that is expanded
static std::vector<uint64_t> fps;    // the same
static std::vector<std::vector<uint64_t>> links;  // of every level
static uint64_t fired[ACTIONS], generated = 1, distinct = 1;

// The steps of one state; those that change nothing are counted and not kept.
static bool expand(uint64_t position) {
  const Row& row = rows[position];
  bool moved = false;
  auto emit = [&](int action, int rm) {
    uint64_t fp = fps[position];
    step(action, rm, [&](int variable, int value) {
      fp += contribution[variable][value] - contribution[variable][row.at[variable]];
    });
    fired[action]++;
    moved = true;
    if (fp == fps[position]) return;
    candidates[fp >> (64 - PART_BITS)].push_back({fp, position << 16 | action << 8 | rm});
  };
  for (int rm = 0; rm < RMS; rm++) if (row.at[RM + rm] == WORKING) emit(PREPARE, rm);
  for (int rm = 0; rm < RMS; rm++) if (row.at[RM + rm] == WORKING) emit(CHOOSE, rm);
  if (row.at[COMMIT]) for (int rm = 0; rm < RMS; rm++) emit(RECEIVE_COMMIT, rm);
  if (row.at[ABORT]) for (int rm = 0; rm < RMS; rm++) emit(RECEIVE_ABORT, rm);
  if (row.at[TM] == INIT) {
    bool all = true;
    for (int rm = 0; rm < RMS; rm++) {
      if (row.at[SENT + rm]) emit(HEAR, rm);
      all &= row.at[HEARD + rm];
    }
    if (all) emit(TM_COMMIT, 0);
    emit(TM_ABORT, 0);
  }
  return moved;
}

static void insert(int number) {
  Part& part = parts[number];
  auto& waiting = candidates[number];
  for (size_t i = 0; i < waiting.size(); i++) {
    if (i + AHEAD < waiting.size())
      __builtin_prefetch(part.table + (waiting[i + AHEAD].fp & part.mask), 1);
    if (!part.enter(waiting[i].fp)) continue;
    uint64_t link = waiting[i].link;
    State state{rows[link >> 16], waiting[i].fp, link};
    step(link >> 8 & 255, link & 255, [&](int variable, int value) { state.row.at[variable] = value; });
    part.fresh.push_back(state);
  }
  waiting.clear();
}

// The new states of all parts become the level, in the order of their fingerprints.
static void next_level() {
  size_t n = 0;
  for (auto& part : parts) n += part.fresh.size();
  rows.clear(), fps.clear();
  rows.shrink_to_fit(), rows.reserve(n), fps.reserve(n);
  links.emplace_back();
  links.back().reserve(n);
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (auto& part : parts) {
    order.clear();
    for (size_t i = 0; i < part.fresh.size(); i++) order.push_back({part.fresh[i].fp, (uint32_t)i});
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); i++) {
      if (i + 8 < order.size()) __builtin_prefetch(&part.fresh[order[i + 8].second]);
      const State& state = part.fresh[order[i].second];
      rows.push_back(state.row), fps.push_back(state.fp), links.back().push_back(state.link);
    }
    part.fresh.clear();
  }
  distinct += n;
}

static void report(const char* what, uint64_t position) {
  printf("%s after %zu steps, last first (action manager):\n", what, links.size() - 1);
  for (size_t level = links.size(); --level > 0; position = links[level][position] >> 16)
    printf("  %d %d\n", int(links[level][position] >> 8 & 255), int(links[level][position] & 255));
  exit(1);
}

int main() {
  prepare_fingerprints();
  Row first{};
  uint64_t fp = 0;
  for (auto& values : contribution) fp += values[0];
  parts[fp >> (64 - PART_BITS)].enter(fp);
  rows.push_back(first), fps.push_back(fp), links.push_back({0});
  while (!rows.empty()) {
    for (uint64_t at = 0; at < rows.size(); at++)
      if (!consistent(rows[at])) report("inconsistent", at);
    for (uint64_t from = 0; from < rows.size();) {
      uint64_t end = std::min<uint64_t>(rows.size(), from + BATCH / (RMS + 4));
      for (; from < end; from++)
        if (!expand(from) && !terminal(rows[from])) report("deadlock", from);
      for (int number = 0; number < PARTS; number++) insert(number);
    }
    next_level();
  }
  for (uint64_t count : fired) generated += count;
  printf("distinct %llu generated %llu depth %zu\n", (unsigned long long)distinct,
         (unsigned long long)generated, links.size() - 1);
}
