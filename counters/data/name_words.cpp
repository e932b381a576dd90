#include "counters/data/name_words.h"

#include <algorithm>
#include <map>
#include <set>

namespace perfc {
namespace {

constexpr std::size_t kShortest = 2;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// Between i − 1 and i, both letters.
bool parted(std::string_view name, std::size_t i) {
  if (!is_upper(name[i])) return false;
  return is_lower(name[i - 1]) || (i + 1 < name.size() && is_lower(name[i + 1]));
}

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (word.size() >= kShortest) words.insert(word);
    word.clear();
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool letter = is_upper(name[i]) || is_lower(name[i]);
    if (!letter || (!word.empty() && parted(name, i))) end_word();
    if (letter) word += is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  end_word();
  return {words.begin(), words.end()};
}

std::vector<std::string> shared_words(const CounterDataset& d, std::span<const std::size_t> rows) {
  std::map<std::string, std::set<std::string_view>> bearers;
  std::set<std::string_view> applications;
  for (const std::size_t r : rows) {
    const CounterDataset::Workload& w = d.workloads[r];
    applications.insert(w.application);
    for (std::string& word : words_of(w.region)) bearers[std::move(word)].insert(w.application);
  }
  std::erase_if(bearers, [&](const auto& b) { return b.second.size() < 2 || b.second.size() == applications.size(); });
  std::vector<std::string> words;
  words.reserve(bearers.size());
  for (const auto& b : bearers) words.push_back(b.first);
  if (words.size() > kMostWords) {
    std::stable_sort(words.begin(), words.end(),
                     [&](const auto& a, const auto& b) { return bearers[a].size() > bearers[b].size(); });
    words.resize(kMostWords);
    std::sort(words.begin(), words.end());
  }
  return words;
}

}  // namespace perfc
