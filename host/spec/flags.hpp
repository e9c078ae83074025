// The TOML of a spec with the flags of the command line merged in. Used by spec.cpp.
#pragma once

#include "base/toml.hpp"
#include "spec/document.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// Parses the text of the spec and applies its flags in their order, `-n` last. Values from flags have the flag as
/// their source (see field.hpp). Without a model, flags that may name its quantities are skipped. Throws `error`
/// (exit_usage) for bad syntax and for keys that belong neither to the spec nor to the model.
toml::table merge(const spec_document& spec, const host::model* model);

}  // namespace saltus::host
