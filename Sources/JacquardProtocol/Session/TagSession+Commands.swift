public import Time

extension TagSession {
    /// Enqueues a command. Each command ends with exactly one ``TagEvent/commandEnded(token:_:)``, at once or
    /// later.
    ///
    /// - Parameters:
    ///   - command: the command. If the component does not support it, nothing is sent.
    ///   - token: identifies the command in `commandEnded`.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func enqueue(
        _ command: TagCommand, token: UInt64, at now: Instant
    ) -> [Action] {
        do throws(TagCommandError) {
            guard isConnected else { throw .notConnected }
            let (request, step) = try request(for: command)
            // Patterns, keys and texts can exceed the longest packet.
            let length = request.encoded(id: RequestQueue<Purpose>.maximumID).count
            guard length <= Fragment.maximumPacketLength else { throw .invalidParameter }
            link.requests.enqueue(request, for: .command(token: token, step), timeout: timing.request)
            return sendNext(at: now)
        } catch {
            return [ended(token, .failure(error))]
        }
    }

    private func request(for command: TagCommand) throws(TagCommandError) -> (Request, CommandStep) {
        switch command {
        // Every tag has an LED.
        case .playLEDPattern(let pattern, on: .tag): return (.playLEDOnTag(pattern), .acknowledged(gear: nil))
        case .playLEDPattern(let pattern, on: .gear):
            let gear = try gear(with: .led, or: .componentDoesNotSupportPlayLEDPattern)
            return (.playLED(pattern, onGear: gear), .acknowledged(gear: gear))
        case .playHaptic(let pattern):
            let gear = try gear(with: .haptic, or: .componentDoesNotSupportPlayHaptic)
            return (.playHaptic(pattern, component: gear), .acknowledged(gear: gear))
        case .setTouchMode(let mode):
            let capability: Capability = mode == .gesture ? .gesture : .touchDataStream
            let gear = try gear(with: capability, or: .componentDoesNotSupportTouchMode)
            return (.touchMode(mode, component: gear), .touchMode(mode, gear: gear))
        case .batteryStatus: return (.batteryStatus(), .battery)
        case .deviceInformation(of: .tag): return (.deviceInformationOfTag(), .tagInformation)
        case .deviceInformation(of: .gear):
            guard let gear = link.gear.component?.componentID else { throw .gearNotAttached }
            return (.deviceInformation(ofGear: gear), .gearInformation(gear: gear))
        case .rename(let name): return (.rename(try validated(name)), .name(name))
        case .configGet(let key, let vendor, let product):
            let (vendor, product) = store(vendor, product)
            return (.configGet(vendor: vendor, product: product, key: key), .configValue)
        case .configSet(let key, let value, let vendor, let product):
            let (vendor, product) = store(vendor, product)
            let element = ConfigElement(key: key, value: value)
            return (.configSet(vendor: vendor, product: product, element), .acknowledged(gear: nil))
        case .disconnectTag(let seconds, let onlyOnMotion):
            let request = Request.disconnect(timeoutSeconds: seconds, reconnectOnlyOnWakeOnMotion: onlyOnMotion)
            return (request, .acknowledged(gear: nil))
        }
    }

    private func gear(
        with capability: Capability, or error: TagCommandError
    ) throws(TagCommandError) -> UInt32 {
        guard let gear = link.gear.component else { throw .gearNotAttached }
        guard gear.capabilities.contains(capability) else { throw error }
        return gear.componentID
    }

    /// Returns the name if it is valid and differs from the current one in its UTF-8 bytes.
    private func validated(_ name: String) throws(TagCommandError) -> String {
        let isPresent = link.tagName.map { $0.utf8.elementsEqual(name.utf8) } ?? false
        guard BLEConfiguration.nameByteCounts.contains(name.utf8.count), !isPresent else { throw .invalidParameter }
        return name
    }

    /// Returns the vendor and product of a config store; the tag's own where nil is given.
    private func store(
        _ vendor: JacquardIdentifier?, _ product: JacquardIdentifier?
    ) -> (vendor: JacquardIdentifier, product: JacquardIdentifier) {
        (vendor ?? link.tag?.vendor.id ?? .google, product ?? link.tag?.product.id ?? .tag)
    }
}
