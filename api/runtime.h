// What generated functions call.
#pragma once

#include "api/autograd/grad_node.h"
#include "api/call/args.h"
#include "api/call/attr_key.h"
#include "api/call/decision.h"
#include "api/call/dist_args.h"
#include "api/call/grad_mask.h"
#include "api/call/launch.h"
#include "api/call/outputs.h"
#include "api/capture/captured_call.h"
#include "phi/common/errors.h"
