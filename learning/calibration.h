#pragma once
/// `perfc devices calibrate`: a device's constants from measurements on it.
///
/// Measured products do, too: learning/kernel_calibration.h.
///
/// Ten measured models say most of what a data sheet does not: what share of the
/// peaks kernels reach on this device, what a launch and a dispatch cost, and, where
/// labels have energy, what power it draws. Labels of single operators serve as well. The
/// constants are fitted with the predictor in the loop, in logarithms, each pulled
/// towards where it stood; a shift that all of them share is pulled less, because
/// devices differ mostly by one factor. Few labels move them a little, many freely.
#include <Eigen/Core>

#include "learning/dataset.h"

namespace perfc {

struct CalibrationRequest {
  std::string data;         ///< labels, see learning/dataset.h, or kernels; of one device
  std::string device_file;  ///< devices of the user's own; empty: none
  std::string host;         ///< name or file; empty: the device's
  LabelFilter filter;
  std::string predictor = "default";
  std::string name;  ///< of the calibrated device; empty: as it was
  std::size_t threads = 0;
};

struct Calibration {
  Device device;
  std::size_t labels = 0, left_out = 0;
  double error_before = 0, error_after = 0;  ///< mean_error() on the labels themselves
  std::size_t power_labels = 0;              ///< with energy; 0: the power terms stay
  double power_error_before = 0, power_error_after = 0;
};

/// e^(mean |ln(predicted / measured)|) − 1 of errors in ln: half and twice as long are equally wrong, as to the fits.
double mean_error(const Eigen::VectorXd& errors);

/// A device's efficiencies stay within this, as device files must have them.
inline constexpr double kMostEfficiency = 10;

/// Fails on labels of several devices, and where no label can be predicted.
Result<Calibration> calibrate(const CalibrationRequest&, Diagnostics&);

}  // namespace perfc
