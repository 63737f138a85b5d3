// SPDX-License-Identifier: Apache-2.0

/// Wide fields as one reference: a copy is one retain, and a change of shared fields copies them first.
struct Shared<Fields: Sendable>: Sendable {
    private var object: Object

    /// The fields as one object.
    ///
    /// SAFETY: an object changes only by `fields`, while a single value refers to it.
    private final class Object: @unchecked Sendable {
        var fields: Fields

        init(_ fields: Fields) {
            self.fields = fields
        }
    }

    init(_ fields: Fields) {
        object = Object(fields)
    }

    var fields: Fields {
        get { object.fields }
        _modify {
            if !isKnownUniquelyReferenced(&object) { object = Object(object.fields) }
            yield &object.fields
        }
    }
}

extension Shared: Equatable where Fields: Equatable {
    static func == (one: Shared, other: Shared) -> Bool {
        one.object === other.object || one.object.fields == other.object.fields
    }
}
