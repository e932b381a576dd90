/// `perfc`: corrected costs where siblings of what is asked for were in training, costs and trees where none were.
#include "counters/models/corrected_costs.h"
#include "counters/models/costs_and_trees.h"

namespace perfc {
namespace {

class PerfcModel final : public StoredModel {
 public:
  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind kind, const Random& random,
             Diagnostics& diags) override {
    choose(kind != SplitKind::Random);
    return model_->fit(p, rows, kind, random, diags);
  }
  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    return model_->predict(p, rows);
  }
  void save(Checkpoint& c) const override { model_->save(c); }
  Status restore(const CounterDataset& names, std::size_t machines, const Checkpoint& c, Diagnostics& diags) override {
    choose(CostsAndTrees::holds(c));
    return model_->restore(names, machines, c, diags);
  }
  double base(const CounterProblem& p, std::size_t row) const override { return model_->base(p, row); }
  std::optional<double> interval() const override { return model_->interval(); }
  std::vector<std::string> words() const override { return model_->words(); }
  std::string findings() const override { return model_->findings(); }

 private:
  void choose(bool groups) {
    if (groups) model_ = std::make_unique<CostsAndTrees>();
    else model_ = std::make_unique<CorrectedCosts>(CorrectedCosts::Correction::ByLikeness);
  }
  std::unique_ptr<StoredModel> model_;
};

}  // namespace

std::unique_ptr<StoredModel> make_perfc_model() { return std::make_unique<PerfcModel>(); }

}  // namespace perfc
