// What generated functions call.
#pragma once

#include "phi/api/args.h"
#include "phi/api/attr_key.h"
#include "phi/api/capture/captured_call.h"
#include "phi/api/decision.h"
#include "phi/api/dist_args.h"
#include "phi/api/grad_mask.h"
#include "phi/api/grad_node.h"
#include "phi/api/launch.h"
#include "phi/api/outputs.h"
#include "phi/common/errors.h"
