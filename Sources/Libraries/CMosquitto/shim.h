// libmosquitto with the properties of MQTT 5.
#pragma once

#include <mosquitto.h>
// mosquitto.h of mosquitto 2.1 and later includes it, and the old path is a warning.
#if !__has_include(<mosquitto/mqtt_protocol.h>)
#include <mqtt_protocol.h>
#endif
