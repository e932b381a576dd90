#pragma once
/// What trains the corrected whitebox: labels with their kernel graphs, the devices
/// they ran on, and which of them belong together when some are left out.
#include "learning/corrected.h"
#include "learning/training.h"

namespace perfc {

/// One label with its kernels.
struct CorrectedItem {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Label* label = nullptr;
  std::shared_ptr<const KernelGraph> graph;
  std::size_t device = 0;    ///< from 1: row of the table of terms
  std::size_t chip = 0;      ///< devices of one chip are left out together
  std::size_t fold = kNone;  ///< of its group; single operators have none
  std::string group;         ///< of families that compute the same; single operators: empty
  bool is_model() const { return fold != kNone; }
};

class CorrectedData {
 public:
  /// The labels of inference that are not in the test part of the split, with their
  /// graphs; models that cannot be read are warned about and counted.
  Status read(const TrainRequest&, Diagnostics&);

  const std::vector<CorrectedItem>& items() const { return items_; }
  /// Whether the predictor corrects what is like this item: models, or operators where no model is in training.
  bool speaks(const CorrectedItem& i) const { return i.is_model() || !any_models_; }
  std::uint64_t hash() const { return dataset_.hash; }  ///< of the labels' file
  std::size_t left_out() const { return left_out_; }
  std::size_t folds() const { return folds_; }

  std::size_t devices() const { return devices_.size(); }
  /// `device`: from 1, as in CorrectedItem.
  const Device& device(std::size_t device) const { return devices_[device - 1]; }
  std::size_t chip(std::size_t device) const { return chip_of_[device - 1]; }
  /// Whether a device speaks for devices that nobody measured: models ran on it, or nowhere.
  /// Terms from float32 operators alone say nothing about models.
  bool speaks(std::size_t device) const { return speaks_[device - 1]; }
  /// A device as one that nobody measured: its calibratable constants are the geometric means of those of the other
  /// chips' devices that speak, but for what streams reach of its kind of memory, if its sheet has that.
  Device unmeasured(std::size_t device) const;

  /// The item on a device that may be its own or its own as unmeasured.
  double host_ms(const CorrectedItem&, const Device&) const;
  double whitebox_ms(const CorrectedItem&, const Device&) const;  ///< for comparison
  /// Prices by kernel of its graph.
  Timeline timeline(const CorrectedItem&, std::span<const Priced>, double host_ms) const;
  GraphSample sample(const CorrectedItem&, const Device&, const DeviceTerms&) const;

  /// Vocabulary, normaliser and ranges, fitted on the items.
  const KernelTable& table() const { return table_; }

 private:
  Status choose(const TrainRequest&, Diagnostics&);
  std::map<std::string, std::string> groups_of_families(const std::vector<std::shared_ptr<const KernelGraph>>&) const;
  std::map<std::string, std::size_t> fold_of_groups(const std::map<std::string, std::string>& groups) const;
  void fit_table();

  Dataset dataset_;
  std::vector<Label> labels_;
  std::vector<Device> devices_;  ///< in the order of their names in the labels
  std::vector<std::size_t> chip_of_;
  std::vector<bool> speaks_;
  bool any_models_ = false;
  std::vector<CorrectedItem> items_;
  std::size_t folds_ = 0, left_out_ = 0;
  KernelTable table_;
};

}  // namespace perfc
