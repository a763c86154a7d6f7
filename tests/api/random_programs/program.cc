// Interpretation.
#include "program.h"

#include "forms.h"

namespace phi::testing::programs {

TensorList Call::from(size_t first) const {
  TensorList list;
  for (size_t i = first; i < statement_.args.size(); ++i) list.push_back(x(i));
  return list;
}

TensorList Call::losses() const {
  TensorList list;
  for (size_t i = 0; i < static_cast<size_t>(n(0)); ++i) list.push_back(x(i));
  return list;
}

// The tensors of outside are those of the moment at which the body is made, as a lambda has them.
std::function<Tensor(const TensorList&)> Call::body() const {
  return [statement = statement_, outer = values_, &on = site](const TensorList& given) {
    Values values = outer;
    return Call(statement, values, on).run_body(given);
  };
}

Tensor Call::run_body(const TensorList& given) const {
  for (size_t i = 0; i < given.size(); ++i) values_[statement_.body_params[i]] = given[i];
  for (const Statement& inner : statement_.body) execute(inner, values_, site);
  return values_.at(statement_.body_result);
}

ScanFunction Call::layer() const {
  return [run = body()](const Tensor& carried, const TensorList& layer) {
    TensorList given = {carried};
    given.insert(given.end(), layer.begin(), layer.end());
    return Site::like(run(given), carried);
  };
}

std::vector<TensorList> Call::layers() const {
  const auto trips = static_cast<size_t>(n(0));
  const size_t width = (statement_.args.size() - 1) / trips;
  std::vector<TensorList> layers(trips);
  for (size_t i = 0; i < trips * width; ++i) layers[i / width].push_back(x(1 + i));
  return layers;
}

void execute(const Statement& statement, Values& values, Site& site) {
  const Call call(statement, values, site);
  TensorList made;
  if (statement.no_grad) {
    made = {site.without_grad([&] { return statement.form->run(call).at(0); })};
  } else {
    made = statement.form->run(call);
  }
  for (size_t i = 0; i < statement.outs.size(); ++i) values[statement.outs[i]] = made.at(i);
}

Values begin(const RandomProgram& program, const TensorList& in, const TensorList& p) {
  Values values;
  for (size_t i = 0; i < in.size(); ++i) values[static_cast<ValueId>(i)] = in[i];
  for (size_t i = 0; i < p.size(); ++i) {
    values[program.num_inputs() + static_cast<ValueId>(i)] = p[i];
  }
  return values;
}

Case to_case(const RandomProgram& program) {
  Case test = program.setting;
  test.function = [program](Site& site, const TensorList& in, const TensorList& p) {
    Values values = begin(program, in, p);
    for (const Statement& statement : program.statements) execute(statement, values, site);
    TensorList results;
    for (const ValueId result : program.results) results.push_back(values.at(result));
    return results;
  };
  return test;
}

std::vector<ValueId> values_read(const Statement& statement) {
  std::vector<ValueId> read = statement.args;
  for (const Statement& inner : statement.body) {
    for (const ValueId value : values_read(inner)) read.push_back(value);
  }
  return read;
}

}  // namespace phi::testing::programs
