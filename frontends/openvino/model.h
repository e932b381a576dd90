#pragma once
/// An OpenVINO IR as its `.xml` has it (versions 10 and 11): layers, and edges between their ports. Texts point into
/// the document, which the network owns. Contents of constants lie in the `.bin` beside it, which is not read here.
/// Format: docs.openvino.ai, "OpenVINO IR format"; what is written:
/// openvino/src/core/xml_util/src/xml_serialize_util.cpp.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/diagnostics.h"
#include "ir/types.h"

namespace tinyxml2 {
class XMLDocument;
}

namespace perfc::openvino {

struct Port {
  std::int64_t id = 0;
  Type type;               ///< as the file declares it: of −1, an unknown dim
  std::string_view names;  ///< of the tensor, separated by commas
};

/// How a body's parameters and results stand to the ports of the layer that runs it.
struct PortMap {
  std::int64_t external = -1;  ///< port of the layer; −1: none
  std::int64_t internal = -1;  ///< layer of the body; −1: none
  std::int64_t axis = -1;      ///< sliced or stacked along it; −1: as a whole
  std::int64_t start = 0, end = -1, stride = 1, part = 1;
  bool output = false;
  std::string_view purpose;  ///< "current_iteration", "execution_condition"
};

/// The result `from` of the body is its parameter `to` in the next round.
struct BackEdge {
  std::int64_t from = -1, to = -1;
};

struct Net;

struct Body {
  std::string_view tag;  ///< "body", "then_body", "else_body"
  std::unique_ptr<Net> net;
  std::vector<PortMap> ports;
  std::vector<BackEdge> back_edges;
};

struct Layer {
  std::int64_t id = 0;
  std::string_view name, type, version;
  std::map<std::string_view, std::string_view> attributes;  ///< of <data>
  std::vector<Port> inputs, outputs;
  std::vector<Body> bodies;
  bool decompression = false;  ///< a cast of weights that a runtime makes once (rt_info)
  SourceLoc loc;
  /// Where each input comes from: a layer's place in `Net::layers` and a place among its outputs. −1: nowhere.
  struct Source {
    std::ptrdiff_t layer = -1;
    std::size_t output = 0;
  };
  std::vector<Source> sources;
};

struct Net {
  std::string_view name;
  std::int64_t version = 0;
  std::vector<Layer> layers;                     ///< operands before users
  std::vector<std::size_t> parameters, results;  ///< layers of these types, as the file orders them
};

struct Model {
  std::shared_ptr<tinyxml2::XMLDocument> document;  ///< owns the texts
  Net net;
};

Result<Model> read_model(std::string_view text, Diagnostics&);

/// Element type by OpenVINO's name, "f32" or "FP32"; Undefined when perfc has none such.
DType dtype_of(std::string_view name);

}  // namespace perfc::openvino
