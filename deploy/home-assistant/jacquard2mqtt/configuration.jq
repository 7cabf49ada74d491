# The configuration of the bridge from the options of the app. $broker has the broker's address and login from the supervisor, or {}.
# An option that is empty or missing keeps its default.
walk(if type == "object" then with_entries(select(.value != null and .value != "")) else . end)
| (.tls // {}) as $tls
| del(.tls)
| ($broker[0]
    | {host, port, username, password}
    + (if .ssl then {tls: true} else {} end)
    | with_entries(select(.value != null and .value != ""))) as $known
| .mqtt = $known + .mqtt
| if $tls.enabled then .mqtt.tls = ($tls | del(.enabled)) else . end
| .log.format = "text"
# These characters end a line in YAML.
| tojson
| gsub("\u0085"; "\\u0085")
| gsub("\u2028"; "\\u2028")
| gsub("\u2029"; "\\u2029")
