extension Configuration {
    /// What is allowed but should be known: one sentence each, said at every start and by `check-config`.
    var notices: [String] {
        var notices: [String] = []
        if mqtt.tls?.isInsecure == true {
            notices.append(
                "mqtt.tls.insecure is true: the broker's certificate does not have to match its name")
        }
        if mqtt.password != nil, mqtt.username == nil {
            notices.append("mqtt.password is set without mqtt.username: a broker that speaks 3.1.1 never sees it")
        }
        if tags.isEmpty {
            notices.append("tags is empty: only tags that were paired by command are connected")
        }
        return notices
    }
}
