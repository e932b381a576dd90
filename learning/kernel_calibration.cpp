#include "learning/kernel_calibration.h"

#include <Eigen/Dense>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "ir/support/csv.h"
#include "whitebox/price/learned_factor.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

struct MeasuredProduct {
  Product product;
  double seconds = 0;
};

struct MeasuredProducts {
  std::string device;
  Precision precision = Precision::Bf16;
  std::vector<MeasuredProduct> all;
};

constexpr std::string_view kProductColumns[] = {"device", "kind", "m", "n", "k", "dtype", "us"};
constexpr auto kFactors = static_cast<Eigen::Index>(std::size(kProductFactors));

/// Errors beyond this, in ln, pull linearly (Huber 1964).
constexpr double kLargeError = 0.1;
/// A factor's distance from where it stood, in ln, counts as so much of an error: what 24 rows do not say stays. The
/// first is of chips whose class nobody measured; of others the class may say nearly all, or the data sheet be wrong:
/// the rows decide. studies/kernels/chosen_products.py.
constexpr double kStays[] = {0.3, 1, 3};
constexpr int kMostFitSteps = 30;
constexpr double kFactorProbe = 0.02, kLeastChange = 1e-3, kFirstDamping = 1e-2;

/// Reads one table; the first thing that is wrong with a row is reported.
class ProductReader {
 public:
  ProductReader(const CsvTable& table, Diagnostics& diags) : table_(table), diags_(diags) {}

  Result<MeasuredProducts> read() {
    MeasuredProducts out;
    for (const CsvTable::Row& row : table_.rows) {
      const std::string device = text(row, "device"), dtype = text(row, "dtype");
      if (text(row, "kind") != "gemm") return wrong(row, "kind", "gemm, of which alone there is a model to fit");
      if (dtype != "fp16" && dtype != "bf16") return wrong(row, "dtype", "fp16 or bf16");
      if (out.all.empty()) {
        out.device = device;
        out.precision = *find_precision(dtype);
      }
      if (device != out.device) return wrong(row, "device", fmt::format("that of the rows before, '{}'", out.device));
      if (*find_precision(dtype) != out.precision) return wrong(row, "dtype", "that of the rows before");
      MeasuredProduct p;
      for (const auto& [column, extent] :
           {std::pair("m", &Product::m), std::pair("n", &Product::n), std::pair("k", &Product::k)}) {
        const double v = number(row, column);
        if (!(v >= 1) || v != std::floor(v)) return wrong(row, column, "a whole number from 1");
        p.product.*extent = v;
      }
      const double us = number(row, "us"), copies = number(row, "copies");
      if (!(us > 0)) return wrong(row, "us", "a positive number");
      if (!(copies >= 0)) return wrong(row, "copies", "a number from 0");
      p.seconds = us * 1e-6;
      p.product.turns = copies;
      out.all.push_back(p);
    }
    return out;
  }

 private:
  std::string text(const CsvTable::Row& row, std::string_view column) const {
    const auto c = table_.column(column);
    return c ? row.fields[*c] : std::string();
  }
  /// 0: an empty field, or no such column.
  double number(const CsvTable::Row& row, std::string_view column) const {
    const std::string field = text(row, column);
    return field.empty() ? 0 : parse_number(field).value_or(-1);
  }
  Failure wrong(const CsvTable::Row& row, std::string_view column, std::string_view wanted) {
    diags_.error(row.loc, {}, fmt::format("{}: '{}' is not {}", column, text(row, column).substr(0, 80), wanted));
    return {};
  }

  const CsvTable& table_;
  Diagnostics& diags_;
};

Result<MeasuredProducts> read_products(const std::string& path, Diagnostics& diags) {
  const auto source = Source::open(path, diags);
  if (!source) return Failure{};
  const auto table = parse_csv(source->bytes(), diags);
  if (!table) return Failure{};
  if (table->rows.empty()) return diags.error("no rows");
  return ProductReader(*table, diags).read();
}

/// The class' constants that a device's own products move.
class ProductFit {
 public:
  ProductFit(ProductDevice device, const std::vector<MeasuredProduct>& measured)
      : device_(device), measured_(measured) {}

  /// Factors in ln, around where they stood, under the prior that makes the rows likelier (MacKay 1992), as
  /// learning/calibration.cpp does of labels.
  Eigen::VectorXd run() const {
    Found best = run(kStays[0]);
    if (!device_.learned) return best.at;
    for (const double stay : std::span(kStays).subspan(1)) {
      if (Found other = run(stay); other.evidence > best.evidence) best = std::move(other);
    }
    return best.at;
  }

  double mean_error(const Eigen::VectorXd& at) const { return perfc::mean_error(errors_at(at)); }

  double factor(const Eigen::VectorXd& at, std::size_t i) const {
    const double moved = device_.own.*kProductFactors[i].factor * std::exp(at(static_cast<Eigen::Index>(i)));
    return std::clamp(moved, 1 / kMostEfficiency, kMostEfficiency);
  }

 private:
  struct Found {
    Eigen::VectorXd at;
    double evidence = 0;  ///< ln of how likely the rows are, but for what all priors share
  };

  /// Levenberg and Marquardt's method on outlier-weighted squares.
  Found run(double stay) const {
    Eigen::VectorXd at = Eigen::VectorXd::Zero(kFactors);
    Eigen::MatrixXd hessian;
    double damping = kFirstDamping, loss = loss_at(at, stay);
    for (int step = 0; step < kMostFitSteps; ++step) {
      const Eigen::VectorXd errors = errors_at(at), weights = errors.unaryExpr(&weight);
      Eigen::MatrixXd slopes(errors.size(), kFactors);
      for (Eigen::Index c = 0; c < kFactors; ++c) {
        Eigen::VectorXd moved = at;
        moved(c) += kFactorProbe;
        slopes.col(c) = (errors_at(moved) - errors) / kFactorProbe;
      }
      hessian = slopes.transpose() * weights.asDiagonal() * slopes;
      hessian.diagonal().array() += stay * stay;
      Eigen::MatrixXd damped = hessian;
      damped.diagonal() *= 1 + damping;
      const Eigen::VectorXd gradient = slopes.transpose() * weights.asDiagonal() * errors + stay * stay * at;
      const Eigen::VectorXd change = damped.ldlt().solve(-gradient).cwiseMax(-1).cwiseMin(1);
      const double found = loss_at(at + change, stay);
      damping *= found < loss ? 1.0 / 3 : 4;
      if (found < loss) {
        at += change;
        loss = found;
      }
      if (change.cwiseAbs().maxCoeff() < kLeastChange) break;
    }
    // Laplace's approximation, the spread of what no factor explains being the likeliest.
    const double rows = static_cast<double>(measured_.size());
    const double evidence = kFactors * std::log(stay) - (std::log(hessian.determinant()) + rows * std::log(loss)) / 2;
    return {at, evidence};
  }

  static double weight(double error) { return std::min(1.0, kLargeError / std::max(std::abs(error), 1e-12)); }
  static double huber(double error) {
    const double e = std::abs(error);
    return e <= kLargeError ? e * e : kLargeError * (2 * e - kLargeError);
  }
  double loss_at(const Eigen::VectorXd& at, double stay) const {
    return errors_at(at).unaryExpr(&huber).sum() + stay * stay * at.squaredNorm();
  }
  /// ln(predicted / measured) by product.
  Eigen::VectorXd errors_at(const Eigen::VectorXd& at) const {
    ProductDevice d = device_;
    for (std::size_t i = 0; i < std::size(kProductFactors); ++i) d.own.*kProductFactors[i].factor = factor(at, i);
    Eigen::VectorXd out(static_cast<Eigen::Index>(measured_.size()));
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const Product& p = measured_[i].product;
      const double predicted = (d.learned ? learned_product_time(d, p) : product_time(d, p)).total;
      out(static_cast<Eigen::Index>(i)) = std::log(predicted / measured_[i].seconds);
    }
    return out;
  }

  ProductDevice device_;
  const std::vector<MeasuredProduct>& measured_;
};

}  // namespace

bool lists_kernels(const std::string& path) {
  if (path == "-") return false;  // could be read once only
  Diagnostics unread(path);
  const auto source = Source::open(path, unread);
  const auto table = source ? parse_csv(source->bytes(), unread) : Result<CsvTable>(Failure{});
  return table && std::ranges::all_of(kProductColumns, [&](auto c) { return table->column(c).has_value(); });
}

Result<Calibration> calibrate_on_kernels(const CalibrationRequest& request, Diagnostics& diags) {
  Diagnostics in_table(request.data);
  const auto measured = read_products(request.data, in_table);
  diags.append(in_table);
  if (!measured) return Failure{};
  const auto devices =
      find_devices({.devices = {measured->device}, .device_file = request.device_file, .host = request.host}, diags);
  if (!devices) return Failure{};

  Calibration out{.device = devices->at(0), .labels = measured->all.size()};
  const Rates rates(out.device, measured->precision);
  if (!rates.product[1] || rates.on_vector[1])
    return diags.error(
        fmt::format("{}: products in 16 bits have no model on this device whose constants could be "
                    "fitted; measure whole models instead",
                    out.device.name));
  const ProductFit fit(*rates.product[1], measured->all);
  const Eigen::VectorXd found = fit.run();
  out.error_before = fit.mean_error(Eigen::VectorXd::Zero(kFactors));
  out.error_after = fit.mean_error(found);
  for (std::size_t i = 0; i < std::size(kProductFactors); ++i)
    out.device.efficiency[std::string(kProductFactors[i].key)] = std::stod(fmt::format("{:.4g}", fit.factor(found, i)));
  if (!request.name.empty()) out.device.name = request.name;
  return out;
}

}  // namespace perfc
