-- Side by side: DROP NOT NULL invitation.user_id: no server of the release before reads or writes invitations
-- Side by side: FOREIGN KEY sign_in_link_user_id_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go
-- Side by side: FOREIGN KEY sign_in_link_created_by_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go
-- Side by side: INDEX session_sign_in_link_id_idx on session: no server of the release before writes sessions
-- Side by side: CHECK session_link_alone on session: no server of the release before writes sessions
-- Side by side: CHECK invitation_subject on invitation: no server of the release before writes invitations
-- Side by side: INDEX invitation_address_idx on invitation: no server of the release before writes invitations
-- Side by side: UNIQUE INDEX invitation_waiting_address on invitation: no server of the release before writes invitations

-- AlterTable
ALTER TABLE "invitation" ADD COLUMN     "address" TEXT,
ALTER COLUMN "user_id" DROP NOT NULL;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "sign_in_link_id" UUID;

-- CreateTable
CREATE TABLE "sign_in_link" (
    "id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "user_id" UUID,
    "invitation_id" UUID,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_link_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sign_in_link_user_id_idx" ON "sign_in_link"("user_id");

-- CreateIndex
CREATE INDEX "sign_in_link_invitation_id_idx" ON "sign_in_link"("invitation_id");

-- CreateIndex
CREATE INDEX "sign_in_link_expires_at_idx" ON "sign_in_link"("expires_at");

-- CreateIndex
CREATE INDEX "invitation_address_idx" ON "invitation"("address");

-- CreateIndex
CREATE INDEX "session_sign_in_link_id_idx" ON "session"("sign_in_link_id");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_sign_in_link_id_fkey" FOREIGN KEY ("sign_in_link_id") REFERENCES "sign_in_link"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_invitation_id_fkey" FOREIGN KEY ("invitation_id") REFERENCES "invitation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "invitation" ADD CONSTRAINT "invitation_subject" CHECK (num_nonnulls("user_id", "address") = 1);
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_subject" CHECK (num_nonnulls("user_id", "invitation_id") = 1);
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_hash_size" CHECK (octet_length("token_hash") = 32);
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_end" CHECK ("used_at" IS NULL OR "ended_at" IS NULL);
ALTER TABLE "session" ADD CONSTRAINT "session_link_alone" CHECK (
    "sign_in_link_id" IS NULL OR ("personal_token_id" IS NULL AND "identity_id" IS NULL));

-- One that waits for each address and place.
CREATE UNIQUE INDEX "invitation_waiting_address" ON "invitation" (
    "organization_id", COALESCE("project_id", '00000000-0000-0000-0000-000000000000'),
    COALESCE("environment_id", '00000000-0000-0000-0000-000000000000'), "address") WHERE "ended_at" IS NULL;

-- One that works for each user and for each invitation.
CREATE UNIQUE INDEX "sign_in_link_open_user" ON "sign_in_link" ("user_id") WHERE "used_at" IS NULL AND "ended_at" IS NULL;
CREATE UNIQUE INDEX "sign_in_link_open_invitation" ON "sign_in_link" ("invitation_id") WHERE "used_at" IS NULL AND "ended_at" IS NULL;
