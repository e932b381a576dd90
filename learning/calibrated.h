#pragma once
/// What calibration is asked for and finds, by whole models (learning/calibration.h) or by kernels
/// (learning/kernel_calibration.h).
#include <Eigen/Core>

#include <cmath>

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
inline double mean_error(const Eigen::VectorXd& errors) { return std::expm1(errors.cwiseAbs().mean()); }

/// A device's efficiencies stay within this, as device files must have them.
inline constexpr double kMostEfficiency = 10;

}  // namespace perfc
