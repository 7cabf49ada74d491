// libyaml: events with line and column.
#pragma once

#include <yaml.h>
