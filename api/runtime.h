// Includes everything that generated operator functions call.
#pragma once

#include "api/autograd/grad_node.h"
#include "api/call/args/dist_args.h"
#include "api/call/args/outputs.h"
#include "api/call/call.h"
#include "api/call/call_args.h"
#include "api/call/grad_mask.h"
#include "api/call/launch.h"
#include "api/call/unimplemented_op.h"
