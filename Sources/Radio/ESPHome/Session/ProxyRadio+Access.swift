import Bluetooth
import Time

/// Services, subscriptions and writes.
extension ProxyRadio {
    /// Whether a device is linked.
    func isLinked(_ address: BluetoothAddress) -> Bool { links[address]?.phase == .linked }

    // MARK: Services

    mutating func discover(_ search: ProxyLink.Search, of address: BluetoothAddress, at now: Instant) {
        guard isLinked(address), let link = links[address] else {
            return report(.discoveryFailed(address, .notConnected))
        }
        switch link.table {
        case .known(let services): reportSearch(search, in: services, address)
        case .requested: links[address]?.searches.append(search)
        case .unknown:
            links[address]?.searches.append(search)
            links[address]?.table = .requested(until: now + Limit.services, [])
            // Once per link: the proxy does not keep the services after it has sent them.
            send(.getServices(address.number))
        }
    }

    mutating func receive(_ services: [ProxyService], of address: BluetoothAddress) {
        guard case .requested(let until, var all) = links[address]?.table else { return }
        for service in services {
            let count = all.reduce(service.characteristics.count) { $0 + 1 + $1.characteristics.count }
            if count <= ProxyLink.mostCharacteristics { all.append(service) }
        }
        links[address]?.table = .requested(until: until, all)
    }

    mutating func servicesDone(of address: BluetoothAddress) {
        guard case .requested(_, let all) = links[address]?.table else { return }
        links[address]?.table = .known(all)
        let searches = links[address]?.searches ?? []
        links[address]?.searches = []
        guard isLinked(address) else { return }
        for search in searches { reportSearch(search, in: all, address) }
    }

    private mutating func reportSearch(
        _ search: ProxyLink.Search, in services: [ProxyService], _ address: BluetoothAddress
    ) {
        switch links[address]?.find(search, in: services) {
        case .success(let found):
            links[address]?.characteristics.merge(found) { $1 }
            report(.characteristicsDiscovered(address, found.mapValues(\.centralProperties)))
        case .failure(let error): report(.discoveryFailed(address, error))
        case nil: break
        }
    }

    // MARK: Subscriptions and writes

    mutating func subscribe(_ id: BluetoothUUID, of address: BluetoothAddress, at now: Instant) {
        guard isLinked(address), let characteristic = links[address]?.characteristics[id] else {
            return report(.subscribeFailed(address, id, .characteristicMissing))
        }
        switch links[address]?.subscriptions[id] {
        case nil:
            guard characteristic.configuration != nil else {
                let error = BluetoothError(.notPermitted, text: "the characteristic cannot notify")
                return report(.subscribeFailed(address, id, error))
            }
            links[address]?.subscriptions[id] = 1
            links[address]?.notifying[characteristic.handle] = id
            begin(ProxyLink.Operation(kind: .notify, id: id, characteristic: characteristic), of: address, at: now)
        case 0?: report(.subscribed(address, id))
        case let count?: links[address]?.subscriptions[id] = count + 1
        }
    }

    mutating func write(
        _ value: [UInt8], to id: BluetoothUUID, of address: BluetoothAddress, _ type: WriteType, at now: Instant
    ) {
        guard isLinked(address), let characteristic = links[address]?.characteristics[id] else {
            return report(.writeFailed(address, .characteristicMissing))
        }
        begin(
            ProxyLink.Operation(kind: .write(value, type), id: id, characteristic: characteristic), of: address, at: now
        )
    }

    private mutating func begin(_ operation: ProxyLink.Operation, of address: BluetoothAddress, at now: Instant) {
        links[address]?.operations.append(operation)
        if links[address]?.progress == .idle { sendOperation(of: address, at: now) }
    }

    /// Sends the first operation.
    mutating func sendOperation(of address: BluetoothAddress, at now: Instant) {
        guard isLinked(address), let operation = links[address]?.operations.first else { return }
        var limit = Limit.access
        let handle = operation.handle
        switch operation.kind {
        case .notify: send(.notify(address.number, handle: handle, isOn: true))
        case .configure:
            send(.writeDescriptor(address.number, handle: handle, operation.characteristic.configurationValue))
        case .write(let value, let type):
            if type == .withoutResponse { limit = Limit.unconfirmed }
            send(.write(address.number, handle: handle, withResponse: type == .withResponse, value))
        }
        links[address]?.progress = .sent(until: now + limit)
    }

    mutating func succeeded(
        _ address: BluetoothAddress, _ handle: UInt32, _ response: ProxyMessage, at now: Instant
    ) {
        guard case .sent = links[address]?.progress, let operation = links[address]?.operations.first,
            operation.handle == handle
        else { return }
        let isNotify = if case .notifySet = response { true } else { false }
        guard isNotify == (operation.kind == .notify) else { return }
        guard isNotify else { return finish(operation, of: address, nil, at: now) }
        links[address]?.operations[0].kind = .configure
        sendOperation(of: address, at: now)
    }

    mutating func failed(_ address: BluetoothAddress, _ handle: UInt32, _ error: Int32, at now: Instant) {
        // The error of `getServices` has no handle.
        if handle == 0, case .requested = links[address]?.table {
            return searchesFailed(address, BluetoothError(accessError: error))
        }
        guard case .sent = links[address]?.progress, var operation = links[address]?.operations.first,
            operation.handle == handle, let link = links[address]
        else { return }
        let reason = BluetoothError(accessError: error)
        switch reason.code {
        case .busy:
            let until = operation.repeatedUntil ?? now + Limit.busy
            guard now < until else { break }
            operation.repeatedUntil = until
            links[address]?.operations[0] = operation
            links[address]?.progress = .pausing(until: now + Limit.busyPause)
            return
        case .authenticationFailed where !operation.wasRepeatedEncrypted && !link.hasLostBond:
            // A tag starts the encryption itself, and it may not be complete yet.
            operation.wasRepeatedEncrypted = true
            links[address]?.operations[0] = operation
            if link.isEncrypted { return sendOperation(of: address, at: now) }
            links[address]?.progress = .securing(until: now + Limit.securing, error)
            return
        default: break
        }
        finish(operation, of: address, accessError(reason, of: address), at: now)
    }

    /// A device that requires encryption although there is a bond has lost its bond.
    private func accessError(_ error: BluetoothError, of address: BluetoothAddress) -> BluetoothError {
        error.code == .authenticationFailed && bonds.contains(address) ? Self.bondLost(error) : error
    }

    /// Reports the result of the first operation, and sends the next.
    private mutating func finish(
        _ operation: ProxyLink.Operation, of address: BluetoothAddress, _ error: BluetoothError?, at now: Instant
    ) {
        links[address]?.operations.removeFirst()
        links[address]?.progress = .idle
        if case .write = operation.kind {
            report(error.map { .writeFailed(address, $0) } ?? .written(address))
        } else {
            let count = links[address]?.subscriptions[operation.id] ?? 0
            links[address]?.subscriptions[operation.id] = error == nil ? 0 : nil
            if error != nil { links[address]?.notifying[operation.characteristic.handle] = nil }
            for _ in 0..<count {
                report(
                    error.map { .subscribeFailed(address, operation.id, $0) } ?? .subscribed(address, operation.id))
            }
        }
        sendOperation(of: address, at: now)
    }

    private mutating func searchesFailed(_ address: BluetoothAddress, _ error: BluetoothError) {
        let searches = links[address]?.searches ?? []
        links[address]?.table = .unknown
        links[address]?.searches = []
        guard isLinked(address) else { return }
        for _ in searches { report(.discoveryFailed(address, error)) }
    }

    // MARK: Time

    /// Handles the timeouts of a link that is up.
    mutating func linkTimeReached(_ address: BluetoothAddress, at now: Instant) {
        if case .requested(let until, _) = links[address]?.table, until <= now {
            searchesFailed(address, BluetoothError(.timeout, text: "the services have not been sent"))
        }
        if let until = links[address]?.pairingUntil, until <= now {
            links[address]?.pairingUntil = nil
            report(.pairFailed(address, BluetoothError(.timeout, text: "the device was not paired in time")))
        }
        guard let link = links[address], let operation = link.operations.first else { return }
        switch link.progress {
        case .pausing(let until) where until <= now: sendOperation(of: address, at: now)
        case .securing(let until, let error) where until <= now:
            finish(operation, of: address, accessError(BluetoothError(accessError: error), of: address), at: now)
        case .sent(let until) where until <= now:
            if case .write(_, .withoutResponse) = operation.kind { return finish(operation, of: address, nil, at: now) }
            let error = BluetoothError(.timeout, text: "the proxy did not respond")
            finish(operation, of: address, error, at: now)
        default: break
        }
    }
}
