// TensorFlow's own pruning, replication and partitioning, for tests: GraphDefs go in and out as bytes.
//
// Every function returns a buffer that `oracle_free` frees: 'E' and a message, or 'G' and one record for each graph: the
// length of its name, a space, the length of its bytes, a space, the name, the bytes.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/common_runtime/replicate_constants_pass.h"
#include "tensorflow/core/framework/device_attributes.pb.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/graph_partition.h"
#include "tensorflow/core/graph/subgraph.h"

namespace {

using tensorflow::Graph;
using tensorflow::GraphDef;
using tensorflow::Node;

char* Answer(const std::string& text, size_t* size) {
  char* buffer = static_cast<char*>(std::malloc(text.size()));
  std::memcpy(buffer, text.data(), text.size());
  *size = text.size();
  return buffer;
}

char* Answer(const absl::Status& status, const std::map<std::string, GraphDef>& graphs, size_t* size) {
  if (!status.ok()) return Answer(absl::StrCat("E", status.message()), size);
  std::string text = "G";
  for (const auto& [name, graph] : graphs) {
    const std::string bytes = graph.SerializeAsString();
    absl::StrAppend(&text, name.size(), " ", bytes.size(), " ", name, bytes);
  }
  return Answer(text, size);
}

absl::Status Read(const char* bytes, size_t size, Graph* graph) {
  GraphDef definition;
  if (!definition.ParseFromString(std::string(bytes, size))) return absl::InvalidArgumentError("no GraphDef");
  tensorflow::GraphConstructorOptions options;
  options.allow_internal_ops = true;
  options.expect_device_spec = true;
  return ConvertGraphDefToGraph(options, definition, graph);
}

std::vector<std::string> Lines(const char* text) { return absl::StrSplit(text, '\n', absl::SkipEmpty()); }

GraphDef Written(const Graph& graph) {
  GraphDef definition;
  graph.ToGraphDef(&definition);
  return definition;
}

std::string TaskOf(const Node* node) {
  const std::string device = node->assigned_device_name();
  return device.substr(0, device.find("/device:"));
}

std::string DeviceOf(const Node* node) { return node->assigned_device_name(); }

}  // namespace

extern "C" {

// subgraph::RewriteGraphForExecution, as a local session calls it; names are separated by line ends.
char* oracle_prune(const char* bytes, size_t count, const char* feeds, const char* fetches, const char* targets,
                   const char* device, size_t* size) {
  Graph graph(tensorflow::OpRegistry::Global());
  absl::Status status = Read(bytes, count, &graph);
  if (status.ok()) {
    tensorflow::DeviceAttributes client;
    client.set_name(device);
    tensorflow::subgraph::RewriteGraphMetadata metadata;
    status = tensorflow::subgraph::RewriteGraphForExecution(&graph, Lines(feeds), Lines(fetches), Lines(targets),
                                                            client, true, &metadata);
  }
  return Answer(status, {{"", Written(graph)}}, size);
}

// ReplicateConstantsPass.
char* oracle_replicate(const char* bytes, size_t count, size_t* size) {
  auto graph = std::make_unique<Graph>(tensorflow::OpRegistry::Global());
  absl::Status status = Read(bytes, count, graph.get());
  if (status.ok()) {
    tensorflow::GraphOptimizationPassOptions options;
    options.graph = &graph;
    tensorflow::ReplicateConstantsPass pass;
    status = pass.Run(options);
  }
  return Answer(status, {{"", Written(*graph)}}, size);
}

// Partition, by task or by device.
char* oracle_partition(const char* bytes, size_t count, int by_task, size_t* size) {
  Graph graph(tensorflow::OpRegistry::Global());
  std::unordered_map<std::string, GraphDef> parts;
  absl::Status status = Read(bytes, count, &graph);
  if (status.ok()) {
    int64_t number = 0;
    tensorflow::PartitionOptions options;
    options.node_to_loc = by_task != 0 ? TaskOf : DeviceOf;
    options.new_name = [&number](const std::string& prefix) { return absl::StrCat(prefix, "/_", number++); };
    options.get_incarnation = [](const std::string&) { return 1; };
    options.flib_def = &graph.flib_def();
    options.control_flow_added = false;
    status = tensorflow::Partition(options, &graph, &parts);
  }
  return Answer(status, {parts.begin(), parts.end()}, size);
}

void oracle_free(char* buffer) { std::free(buffer); }
}
