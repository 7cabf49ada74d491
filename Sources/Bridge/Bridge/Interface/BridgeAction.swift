public import JacquardProtocol
public import Text

/// An action that ``BridgeState`` requests. The driver performs all actions in order and makes no decisions.
///
/// For an action with a token, the driver reports the result exactly once: for ``perform(_:on:token:isFirst:)`` by
/// `TagEvent.commandEnded`, for all others by ``BridgeEvent/requestEnded(token:_:)``.
public enum BridgeAction: Equatable, Sendable {
    /// Submit a message to the ``Outbox``.
    case publish(Publication)
    /// Keep the facts of these topics in the ``Outbox`` without publishing them, until ``republish(_:)``.
    case withhold([String])
    /// Publish the facts of these topics, even if the broker has them.
    case republish([String])
    /// Send a command to the tag; `isFirst`: before the commands that wait, except earlier ones with the same right.
    case perform(TagCommand, on: TagHandle, token: UInt64, isFirst: Bool = false)
    /// Connect a tag and keep it connected; may be repeated, also while the tag is connected.
    case connect(TagHandle)
    /// Disconnect a tag, or cancel the attempt, until ``connect(_:)``.
    case disconnect(TagHandle)
    /// Scan and report advertisements until ``stopScan(token:)``. May be repeated with other options.
    case scan(allowsDuplicates: Bool, token: UInt64)
    /// Stop the scan. When a scan's duration has passed, the response is ignored.
    case stopScan(token: UInt64)
    /// Find a tag, bond with it and connect it; answered by ``RequestResponse/paired(address:name:)``. The tag may be a new one.
    ///
    /// Reports progress by ``BridgeEvent/pairing(_:_:)``, and ends after the timeout at the latest. With several radios,
    /// `radio` is the one that pairs; nil: the one that receives the tag best. `isCheck`: pair nothing, and connect the tag once with
    /// this radio and its bond.
    case pair(
        TagHandle, serial: String, timeout: Duration, radio: String? = nil, isCheck: Bool = false, token: UInt64)
    /// End the pairing of a tag. Its answer is ignored.
    case stopPairing(TagHandle)
    /// Disconnect a tag and remove its bond. Succeeds if there is none.
    case forget(TagHandle, token: UInt64)
    /// Measure the process now; answered by ``RequestResponse/measured(_:)``.
    case measure(token: UInt64)
    /// Examine the host, within two seconds; answered by ``RequestResponse/examined(_:)``.
    case examine(token: UInt64)
    /// Select the traces of gestures from the ``Outbox``; answered by ``RequestResponse/gestures(_:)``.
    case trace(TraceQuery, token: UInt64)
    /// Subscribe to these topics too, if there is a connection; the next connection subscribes to all of them.
    case subscribe([String])
    /// Unsubscribe from these topics, if there is a connection. ``BridgeState/subscriptions`` no longer contains them, or
    /// contains them for the next connection.
    case unsubscribe([String])
    /// Report the Bluetooth traffic of this tag, and of no other, by ``BridgeEvent/traffic(_:_:)``; nil: of none.
    case recordTraffic(of: TagHandle?)
    /// Report these views of the tag's raw data by `TagEvent.raw`, on this link and later ones.
    case observeRawData(RawViews, of: TagHandle)
    /// Work with a file of a feature of a tag.
    indirect case file(FeatureFileAction, FeatureFile, of: TagID)
    /// Set the log level.
    case setLogLevel(LogLevel)
    /// Report log records of this level and above (``BridgeEvent/logged(_:omitted:)``); nil: no longer.
    case followLog(LogLevel?)
    /// Select the kept log records of this level and above from the last time; answered by
    /// ``RequestResponse/recalled(_:)``.
    case recallLog(LogLevel, Duration, token: UInt64)
    /// Add a known tag; its facts and discovery documents have been published.
    ///
    /// - Parameter lastAddress: the address of its last connection in an earlier run.
    case addTag(TagHandle, TagEntry, lastAddress: String?)
    /// Report the facts about a tag that was added while it was connected.
    case reportAgain(TagHandle)
    /// Remove a tag. The discovery documents of a known one are removed immediately, its facts a second later.
    case removeTag(TagHandle)
    /// Remove a former instance name whose topics have been cleared.
    case forgetInstance(String)
    /// Remove all places but the present one: what was published there is taken back.
    case forgetFormerPlaces
    /// Store a tag's record, replacing the previous one.
    case remember(TagRecord)
    /// Remove a tag's record and all that is kept of it, in memory and in files.
    case forgetRecord(TagEntry)
}

/// The result of an action with a token, except commands to a tag.
public enum RequestResponse: Equatable, Sendable {
    /// Success without data.
    case done
    /// The tag is bonded with this host.
    ///
    /// - Parameters:
    ///   - address: its Bluetooth address.
    ///   - name: its own name; nil if it did not report one.
    case paired(address: String, name: String?)
    /// The measurements of the process.
    case measured(HealthMeasurement)
    /// The findings about the host.
    case examined(HostReport)
    /// The traces of gestures, oldest first.
    case gestures([GestureTrace])
    /// The log records. None is missing between them and those that a ``BridgeAction/followLog(_:)`` among the next actions
    /// reports.
    case recalled(RecalledLog)
}

/// Why an action with a token failed.
public enum RequestError: Error, Equatable, Sendable {
    /// Bluetooth is not powered on.
    case bluetoothUnavailable(AdapterFacts.State)
    /// One of several radios cannot be used, and is needed.
    case radioUnavailable(text: String)
    /// The tag was not found before the timeout.
    case notFound
    /// The tag or the Bluetooth stack refused, with the stack's error name and text.
    case refused(name: String, text: String)
    /// The tag or the Bluetooth stack did not complete it in time; the effect is unknown.
    case timeout(text: String)
}

/// The stages of a pairing.
public enum PairingStage: Hashable, Sendable {
    /// The tag was found at this address.
    case found(address: String)
    /// Bonding.
    case pairing
    /// Connecting.
    case connecting
}
